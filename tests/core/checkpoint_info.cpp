#include "cairn/core/checkpoint_info.hpp"
