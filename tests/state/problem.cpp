#include "cairn/state/problem.hpp"
