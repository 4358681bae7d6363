// SPDX-License-Identifier: MIT
// The Huffman code tables of a chain of checkpoints, which stores each once; payloads name it by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "cairn/encode/base.hpp"

namespace cairn::inline v0_1 {

/// The tables of a chain of checkpoints, the newest last.
class code_tables {
 public:
  /// Adds a table as the newest one. O(log n); O(n log n) for one that is there already and moves.
  void add(const code_table& table);

  /// The lengths of a table, or null. O(log n).
  [[nodiscard]] const code_lengths* find(std::uint64_t id) const;

  /// Forgets all but the `most` newest tables. O(n log n).
  void keep_newest(std::size_t most);

  [[nodiscard]] std::span<const code_table> all() const noexcept { return tables_; }
  void clear() noexcept;

 private:
  std::vector<code_table> tables_;
  std::map<std::uint64_t, std::size_t> position_;  // of the table with that id
};

}  // namespace cairn::inline v0_1
