#include "cairn/encode/lc/codec.hpp"
