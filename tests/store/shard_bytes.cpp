#include "cairn/store/shard_bytes.hpp"
