// Huffman code tables that several payloads share. A chain of checkpoints stores each once; payloads name it by id.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cairn {

/// Bits of the code of each byte value, at most 12; 0: the value has no code.
using code_lengths = std::array<std::uint8_t, 256>;

/// A table and its id: the XXH3-64 of its lengths.
struct code_table {
  std::uint64_t id = 0;
  code_lengths lengths{};

  friend bool operator==(const code_table&, const code_table&) = default;
};

/// The tables of a chain of checkpoints, the newest last.
class code_tables {
 public:
  /// Adds a table as the newest one, or moves it there.
  void add(const code_table& table) {
    std::erase_if(tables_, [&](const auto& other) { return other.id == table.id; });
    tables_.push_back(table);
  }

  /// The lengths of a table, or null.
  [[nodiscard]] const code_lengths* find(std::uint64_t id) const noexcept {
    for (const auto& each : tables_)
      if (each.id == id) return &each.lengths;
    return nullptr;
  }

  [[nodiscard]] std::span<const code_table> all() const noexcept { return tables_; }
  void clear() noexcept { tables_.clear(); }

 private:
  std::vector<code_table> tables_;
};

}  // namespace cairn
