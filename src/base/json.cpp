// The one place where Boost.JSON's library is compiled: Debian's libboost1.81-dev carries its source.
#include <boost/json/src.hpp>
