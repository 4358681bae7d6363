// SPDX-License-Identifier: MIT
// What is stored of leaves in the JSON text of files: shapes, losses of lossy codecs, layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::size_t max_dimensions = 64;

inline void write_shape(json_writer& json, const extents& shape) {
  json.begin_list();
  for (const auto n : shape) json.natural(n);
  json.end_list();
}

/// Reads a list of at most `max_dimensions` extents into the empty `into()`.
[[nodiscard]] inline json_form shape_form(std::function<extents&()> into) {
  return json_list(json_natural([into = std::move(into)](const json_value& extent) {
    auto& shape = into();
    if (shape.size() == max_dimensions) return "has more than 64 dimensions";
    shape.push_back(extent.natural);
    return "";
  }));
}

/// Reads the name of a dtype into `into()`.
[[nodiscard]] inline json_form dtype_form(std::function<dtype&()> into) {
  return json_text([into = std::move(into)](const json_value& type) {
    const auto parsed = parse_dtype(type.text);
    if (parsed) into() = *parsed;
    return parsed ? "" : "is not a known dtype";
  });
}

/// Adds members to the open object: "max_error":0.5,"relative_l2":0.01,"delta_l2":0.2. The last one is left out where it is not known.
inline void write_loss(json_writer& json, const loss& lost) {
  json.key("max_error").real(lost.max_error).key("relative_l2").real(lost.relative_l2);
  if (lost.delta_l2) json.key("delta_l2").real(*lost.delta_l2);
}

/// Reads one of these members; `lost` gives the loss that is being read.
template <class Lost>
[[nodiscard]] json_field loss_field(std::string_view name, const Lost& lost, bool required = false) {
  return {name, json_real([name, &lost](const json_value& error) {
            loss& of = lost();
            (name == "max_error"     ? of.max_error
             : name == "relative_l2" ? of.relative_l2
                                     : of.delta_l2.emplace()) = error.real;
          }),
          required};
}

/// The same as a list: [0.5,0.01,0.2], which the caller ends.
inline json_writer& write_loss_list(json_writer& json, const loss& lost) {
  json.begin_list().real(lost.max_error).real(lost.relative_l2);
  return lost.delta_l2 ? json.real(*lost.delta_l2) : json;
}

/// The reverse, for untrusted numbers; nullopt unless there are two or three.
[[nodiscard]] inline std::optional<loss> read_loss_list(std::span<const double> numbers) {
  if (numbers.size() != 2 && numbers.size() != 3) return std::nullopt;
  loss lost{numbers[0], numbers[1]};
  if (numbers.size() == 3) lost.delta_l2 = numbers[2];
  return lost;
}

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
