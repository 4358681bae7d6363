#include "cairn/state/overlaps.hpp"
