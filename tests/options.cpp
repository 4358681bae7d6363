#include "cairn/options.hpp"
