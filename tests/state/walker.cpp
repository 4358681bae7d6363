#include "cairn/state/walker.hpp"
