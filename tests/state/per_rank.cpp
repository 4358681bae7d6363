#include "cairn/state/per_rank.hpp"
