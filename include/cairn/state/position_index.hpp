// SPDX-License-Identifier: MIT
// A hash table of positions in a list that is kept elsewhere.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cairn::inline v0_1::detail {

/// Finds equal entries of a list of fewer than 2^32 entries. It has 16 to 32 bytes per position: open addressing with linear probing. Hashes
/// have to differ in their lower bits; entries whose hashes are near each other are near each other in memory.
class position_index {
 public:
  position_index() = default;
  /// Has memory for `count` entries.
  explicit position_index(std::size_t count) : slots_(std::bit_ceil(2 * count + 1)) {}

  /// The position of the entry that is equal; if there is none, adds `position` and returns it. `is_equal(p)` compares with the entry at
  /// p, which has the same hash in its lower 32 bits.
  template <class Equal>
  std::uint32_t find_or_add(std::size_t hash, std::uint32_t position, const Equal& is_equal) {
    if (2 * ++size_ > slots_.size()) grow();
    const auto key = static_cast<std::uint32_t>(hash);
    for (std::size_t at = key & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      slot& here = slots_[at];
      if (here.position_plus_one == 0) {
        here = {key, position + 1};
        return position;
      }
      if (here.key == key && is_equal(here.position_plus_one - 1)) {
        --size_;
        return here.position_plus_one - 1;
      }
    }
  }

  /// Loads the memory that a later `find_or_add` of that hash needs. Precondition: the table has memory.
  void prefetch(std::size_t hash) const noexcept {
    __builtin_prefetch(&slots_[static_cast<std::uint32_t>(hash) & (slots_.size() - 1)], 1);
  }

 private:
  struct slot {
    std::uint32_t key = 0;
    std::uint32_t position_plus_one = 0;  // 0: empty
  };

  void grow() {
    std::vector<slot> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (const slot& each : slots_) {
      if (each.position_plus_one == 0) continue;
      std::size_t at = each.key & (larger.size() - 1);
      while (larger[at].position_plus_one != 0) at = (at + 1) & (larger.size() - 1);
      larger[at] = each;
    }
    slots_ = std::move(larger);
  }

  std::vector<slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace cairn::inline v0_1::detail
