// Beast's compiled part, once for the whole program.
#include <boost/beast/src.hpp>
