// SPDX-License-Identifier: MIT
// The layout of a leaf as members of a JSON object, and back from untrusted text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cairn/store/layout.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// Writes the members of a leaf in the index: `"shard":2`, `"runs":[0,0,1,40]`, `"grid":[[0,4,8],[3]],"shards":[[0,4,1]]` or
/// `"boxes":[[0,0,0,3,2]]`.
void write_layout(json_writer& json, const leaf_layout& layout);

/// Reads these members.
class layout_reader {
 public:
  [[nodiscard]] std::vector<json_field> fields();
  /// Begins the next leaf.
  void clear() { *this = {}; }
  /// Ends it: moves the layout to `to`. Returns what is wrong, "" if nothing.
  [[nodiscard]] std::string_view take(leaf_layout& to);

 private:
  /// A table of numbers, row by row. Its memory is a small multiple of its text.
  struct rows {
    std::vector<std::uint64_t> numbers;
    std::size_t count = 0;
    std::size_t width = 0;  ///< of a list
    bool is_there = false, is_even = true;
  };
  [[nodiscard]] static json_form form_of(rows& into);

  std::optional<std::uint64_t> shard_;
  bool has_runs_ = false, has_grid_ = false;
  std::vector<std::uint64_t> runs_;
  std::vector<extents> grid_;
  rows shards_, boxes_;
};

}  // namespace cairn::inline v0_1::detail
