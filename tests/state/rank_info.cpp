#include "cairn/state/rank_info.hpp"
