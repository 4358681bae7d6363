// SPDX-License-Identifier: MIT
// What a checkpoint shares with others of its chain, its parent and code tables, as JSON text, and back from untrusted text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// The checkpoint that a delta is built on. The id tells checkpoints of one name apart. It stays the same as long as the checkpoint
/// restores the same values, even when merging stores them in other bytes.
struct checkpoint_ref {
  std::string name;
  std::uint64_t id = 0;

  friend bool operator==(const checkpoint_ref&, const checkpoint_ref&) = default;
};

/// Huffman tables by the digits of their ids, each one hexadecimal digit per byte value. The store does not read them.
using stored_tables = std::map<std::string, std::string, std::less<>>;

/// {"0123456789abcdef":"<256 digits>"}
[[nodiscard]] std::string write_tables(const stored_tables& tables);

/// The tables of `text`. errc::corrupt names `origin`.
[[nodiscard]] stored_tables read_tables(std::string_view text, std::string_view origin);

/// {"name":"step-000000120","id":"0123456789abcdef"}
void write_parent(json_writer& json, const checkpoint_ref& parent);

/// The form of a parent, which is read into `parent`.
[[nodiscard]] json_form parent_form(checkpoint_ref& parent);

/// The form of a string of 16 hexadecimal digits, whose number is passed to `use`.
[[nodiscard]] json_form digits_form(std::function<void(std::uint64_t)> use);

}  // namespace cairn::inline v0_1::detail
