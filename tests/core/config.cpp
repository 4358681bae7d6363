#include "cairn/core/config.hpp"
