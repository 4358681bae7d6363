// SPDX-License-Identifier: MIT
// Code tables made from code lengths, and their text form in a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/encode/code_tables.hpp"

namespace cairn::inline v0_1::detail {

/// The table of these lengths, with its id.
[[nodiscard]] inline code_table make_code_table(const code_lengths& lengths) noexcept {
  return {checksum(std::as_bytes(std::span(lengths))), lengths};
}

/// The digits that stand for code lengths 0 to 12.
inline constexpr std::string_view length_digits = "0123456789abc";

/// A table as checkpoints store it: its id in hexadecimal, and one digit per byte value.
[[nodiscard]] inline std::pair<std::string, std::string> write_code_table(const code_table& table) {
  std::string digits;
  for (const auto length : table.lengths) digits += length_digits[length % length_digits.size()];
  return {to_hex(table.id), std::move(digits)};
}

/// The reverse of write_code_table, for untrusted text. errc::corrupt, naming the file `where`, unless `id` is that of
/// these lengths.
[[nodiscard]] inline code_table read_code_table(std::string_view id, std::string_view digits, std::string_view where) {
  code_lengths lengths{};
  bool good = digits.size() == lengths.size();
  for (std::size_t i = 0; good && i < digits.size(); ++i) {
    const auto length = length_digits.find(digits[i]);
    good = length != std::string_view::npos;
    lengths[i] = static_cast<std::uint8_t>(length);
  }
  const auto table = make_code_table(lengths);
  if (!good || parse_hex(id) != table.id) fail(errc::corrupt, {where, ": the code table \"", id, "\" is malformed"});
  return table;
}

}  // namespace cairn::inline v0_1::detail
