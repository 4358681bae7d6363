// SPDX-License-Identifier: MIT
// The Huffman code tables of a chain of checkpoints, which stores each once; payloads name it by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "cairn/encode/base.hpp"

namespace cairn::inline v0_1 {

/// The tables of a chain of checkpoints, the newest last.
class code_tables {
 public:
  /// Adds a table as the newest one. O(log n); O(n log n) for one that is there already and moves.
  void add(const code_table& table) {
    const auto [known, is_new] = position_.try_emplace(table.id, tables_.size());
    if (!is_new) {
      const auto from = std::exchange(known->second, tables_.size() - 1);
      tables_.erase(tables_.begin() + static_cast<std::ptrdiff_t>(from));
      for (auto at = from; at < tables_.size(); ++at) position_[tables_[at].id] = at;
    }
    tables_.push_back(table);
  }

  /// The lengths of a table, or null. O(log n).
  [[nodiscard]] const code_lengths* find(std::uint64_t id) const {
    const auto known = position_.find(id);
    return known == position_.end() ? nullptr : &tables_[known->second].lengths;
  }

  /// Forgets all but the `most` newest tables. O(n log n).
  void keep_newest(std::size_t most) {
    if (tables_.size() <= most) return;
    tables_.erase(tables_.begin(), tables_.end() - static_cast<std::ptrdiff_t>(most));
    position_.clear();
    for (std::size_t at = 0; at < tables_.size(); ++at) position_.emplace(tables_[at].id, at);
  }

  [[nodiscard]] std::span<const code_table> all() const noexcept { return tables_; }
  void clear() noexcept {
    tables_.clear();
    position_.clear();
  }

 private:
  std::vector<code_table> tables_;
  std::map<std::uint64_t, std::size_t> position_;  // of the table with that id
};

}  // namespace cairn::inline v0_1
