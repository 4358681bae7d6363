#include "cairn/state/applier.hpp"
