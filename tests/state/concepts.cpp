#include "cairn/state/concepts.hpp"
