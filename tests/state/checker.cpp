#include "cairn/state/checker.hpp"
