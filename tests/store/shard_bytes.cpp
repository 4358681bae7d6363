// SPDX-License-Identifier: MIT
#include "cairn/store/shard_bytes.hpp"
