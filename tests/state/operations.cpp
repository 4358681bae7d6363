#include "cairn/state/operations.hpp"
