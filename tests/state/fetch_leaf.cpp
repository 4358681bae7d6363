#include "cairn/state/fetch_leaf.hpp"
