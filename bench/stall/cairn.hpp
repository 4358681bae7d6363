// How the bench uses a checkpointer.
#pragma once

#include <cstdint>

#include "cairn/checkpointer.hpp"

namespace bench {

/// Durable, asynchronous, one checkpoint kept, due at every multiple of `interval` steps; stored without loss, the default, or
/// as it is.
[[nodiscard]] cairn::checkpointer_options cairn_options(bool encoded, std::uint64_t interval);

}  // namespace bench
