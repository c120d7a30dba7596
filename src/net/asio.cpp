// Asio's compiled part, once for the whole program.
#include <boost/asio/impl/src.hpp>
