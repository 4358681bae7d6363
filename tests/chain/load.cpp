#include "cairn/chain/load.hpp"
