#include "cairn/encode/lc/options.hpp"
