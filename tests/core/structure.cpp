#include "cairn/core/structure.hpp"
