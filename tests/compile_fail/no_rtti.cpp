// expect: Cairn needs RTTI
// options: -fno-rtti
#include "cairn/cairn.hpp"
