#include "cairn/core/encoding.hpp"
