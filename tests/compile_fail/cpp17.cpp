// expect: Cairn needs C\+\+20
// options: -std=c++17
#include "cairn/cairn.hpp"
