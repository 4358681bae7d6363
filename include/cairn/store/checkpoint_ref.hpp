// SPDX-License-Identifier: MIT
// A reference from a checkpoint to another one: its name and id.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::inline v0_1::detail {

/// The checkpoint that a delta is built on. The id tells checkpoints of one name apart. It stays the same as long as the checkpoint
/// restores the same values, even when merging stores them in other bytes.
struct checkpoint_ref {
  std::string name;
  std::uint64_t id = 0;

  friend bool operator==(const checkpoint_ref&, const checkpoint_ref&) = default;
};

}  // namespace cairn::inline v0_1::detail
