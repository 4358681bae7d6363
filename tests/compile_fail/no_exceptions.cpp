// expect: Cairn needs exceptions
// options: -fno-exceptions
#include "cairn/cairn.hpp"
