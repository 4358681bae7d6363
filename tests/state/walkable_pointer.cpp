#include "cairn/state/walkable_pointer.hpp"
