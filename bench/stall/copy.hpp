// SPDX-License-Identifier: MIT
// The reference: what it takes two threads to copy the state into memory that is there.
#pragma once

#include <cstddef>
#include <span>

#include "save_load/state.hpp"

namespace bench {

/// Memory as large as a state, touched, in huge pages where the kernel has them.
class copy_target {
 public:
  explicit copy_target(const training_state& state);
  copy_target(const copy_target&) = delete;
  copy_target& operator=(const copy_target&) = delete;
  ~copy_target();

  /// Seconds to copy the whole state with two threads, each one half of the bytes, one memcpy per tensor.
  [[nodiscard]] double copy(const training_state& state);

 private:
  std::span<std::byte> memory_;
};

}  // namespace bench
