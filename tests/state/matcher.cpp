#include "cairn/state/matcher.hpp"
