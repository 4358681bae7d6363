#include "cairn/state/matching.hpp"
