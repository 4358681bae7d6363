#include "cairn/chain/options.hpp"
