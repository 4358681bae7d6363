#include "cairn/state/columns.hpp"
