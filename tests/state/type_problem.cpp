#include "cairn/state/type_problem.hpp"
