// Huffman code tables that several payloads share: stored once in a checkpoint, and named by id ever after in its chain.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cairn {

/// Code length per byte value; 0: the value has no code. At most 12 bits.
using code_lengths = std::array<std::uint8_t, 256>;

/// A table and its id, which is the XXH3-64 of its lengths.
struct code_table {
  std::uint64_t id = 0;
  code_lengths lengths{};

  friend bool operator==(const code_table&, const code_table&) = default;
};

/// The tables that a chain of checkpoints has, the newest last.
class code_tables {
 public:
  /// Adds a table, or makes it the newest.
  void add(const code_table& table) {
    std::erase_if(tables_, [&](const auto& other) { return other.id == table.id; });
    tables_.push_back(table);
  }

  /// The lengths of a table, or null.
  [[nodiscard]] const code_lengths* find(std::uint64_t id) const noexcept {
    const auto at = std::find_if(tables_.begin(), tables_.end(), [&](const auto& table) { return table.id == id; });
    return at == tables_.end() ? nullptr : &at->lengths;
  }

  [[nodiscard]] std::span<const code_table> all() const noexcept { return tables_; }
  void clear() noexcept { tables_.clear(); }

 private:
  std::vector<code_table> tables_;
};

}  // namespace cairn
