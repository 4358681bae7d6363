// SPDX-License-Identifier: MIT
// How the bench uses a checkpointer.
#pragma once

#include <cstdint>

#include "cairn/checkpointer.hpp"

namespace bench {

/// Durable, asynchronous, one checkpoint kept, due at every multiple of `interval` steps; `encoded`: without loss, the
/// default, else raw.
[[nodiscard]] cairn::checkpointer_options cairn_options(bool encoded, std::uint64_t interval);

}  // namespace bench
