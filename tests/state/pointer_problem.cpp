#include "cairn/state/pointer_problem.hpp"
