#include "cairn/state/base.hpp"
