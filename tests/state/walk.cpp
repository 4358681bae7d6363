#include "cairn/state/walk.hpp"
