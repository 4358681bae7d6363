#include "cairn/state/column_copy.hpp"
