// SPDX-License-Identifier: MIT
// Definitions of naming.hpp.
#pragma once

#include <charconv>
#include <tuple>

#include "cairn/core/error.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/number_text.hpp"

namespace cairn::inline v0_1 {

namespace detail {

[[nodiscard]] inline std::string zero_padded(std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

/// The number that `text` consists of, written with at least `digits` decimal digits.
[[nodiscard]] inline std::optional<std::uint64_t> parse_padded(std::string_view text, std::size_t digits) {
  std::uint64_t number = 0;
  return read_number(text, number) && zero_padded(number, digits) == text ? std::optional(number) : std::nullopt;
}

CAIRN_INLINE std::string checkpoint_name(std::uint64_t step, const run_branch& branch) {
  auto name = "step-" + zero_padded(step, 9);
  if (branch.number == 0) return name;
  name += ".branch-" + std::to_string(branch.number);
  if (!branch.from) return name;
  name += "-from-" + std::to_string(branch.from->step);
  return branch.from->branch == 0 ? name : name + "-of-" + std::to_string(branch.from->branch);
}

/// Takes `prefix` and the number after it from the front of `text`; nothing, and `text` is unchanged, if they are not there.
[[nodiscard]] inline std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto digits = text.substr(prefix.size(), text.find_first_not_of("0123456789", prefix.size()) - prefix.size());
  std::uint64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{}) return std::nullopt;
  text.remove_prefix(prefix.size() + digits.size());
  return number;
}

/// What a name as `checkpoint_name` makes it says.
struct checkpoint_label {
  std::uint64_t step = 0;
  run_branch branch;
};

[[nodiscard]] inline std::optional<checkpoint_label> parse_label(std::string_view name) {
  auto rest = name;
  const auto step = take_number(rest, "step-");
  if (!step) return std::nullopt;
  checkpoint_label made{*step, {take_number(rest, ".branch-").value_or(0), {}}};
  if (const auto from = take_number(rest, "-from-")) made.branch.from = {take_number(rest, "-of-").value_or(0), *from};
  const auto& from = made.branch.from;
  const bool is_ordered = !from || (from->step < *step && from->branch < made.branch.number);
  // Other ways to write the numbers are other names.
  return is_ordered && checkpoint_name(*step, made.branch) == name ? std::optional(made) : std::nullopt;
}

CAIRN_INLINE std::optional<std::uint64_t> parse_checkpoint_name(std::string_view name) {
  const auto label = parse_label(name);
  return label ? std::optional(label->step) : std::nullopt;
}

CAIRN_INLINE run_branch parse_branch(std::string_view name) {
  return parse_label(name).value_or(checkpoint_label()).branch;
}

CAIRN_INLINE std::string shard_file(std::size_t shard, std::size_t shards) {
  return "shard-" + zero_padded(shard, 5) + "-of-" + zero_padded(shards, 5) + ".safetensors";
}

CAIRN_INLINE bool is_own_file(std::string_view file) {
  if (file == index_file) return true;
  constexpr std::string_view prefix = "shard-", middle = "-of-", suffix = ".safetensors";
  if (!file.starts_with(prefix) || !file.ends_with(suffix)) return false;
  if (file.size() < prefix.size() + suffix.size()) return false;
  file = file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
  const auto at = file.find(middle);
  return at != std::string_view::npos && parse_padded(file.substr(0, at), 5) &&
         parse_padded(file.substr(at + middle.size()), 5);
}

CAIRN_INLINE bool is_checkpoint_name(std::string_view name) noexcept {
  return !name.empty() && name.front() != '.' && name.size() <= 200 && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

CAIRN_INLINE void require_checkpoint_name(std::string_view name) {
  if (!is_checkpoint_name(name))
    fail(errc::invalid,
         {"\"", name, "\" cannot name a checkpoint: use 1 to 200 characters, no slash, no dot in front"});
}

}  // namespace detail

CAIRN_INLINE bool checkpoint_before(std::string_view a, std::string_view b) {
  const auto of_a = detail::parse_label(a), of_b = detail::parse_label(b);
  if (of_a.has_value() != of_b.has_value()) return of_b.has_value();
  if (!of_a) return a < b;
  return std::tuple(of_a->branch.number, of_a->step, a) < std::tuple(of_b->branch.number, of_b->step, b);
}

}  // namespace cairn::inline v0_1
