// SPDX-License-Identifier: MIT
// Definitions of store/naming.hpp.
#pragma once

#include "cairn/store/naming.hpp"
#include "cairn/system/json.hpp"

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

std::string checkpoint_name(std::uint64_t step) { return "step-" + zero_padded(step, 9); }

std::optional<std::uint64_t> parse_checkpoint_name(std::string_view name) {
  constexpr std::string_view prefix = "step-";
  return name.starts_with(prefix) ? parse_padded(name.substr(prefix.size()), 9) : std::nullopt;
}

constexpr std::string_view middle_of_file = "-of-";

[[nodiscard]] inline std::string numbered(std::string_view prefix, std::size_t number, std::size_t count) {
  return sentence({prefix, zero_padded(number, 5), middle_of_file, zero_padded(count, 5)});
}

/// Whether `file` is a name as `numbered` makes it, and that ending.
[[nodiscard]] inline bool is_numbered(std::string_view file, std::string_view prefix, std::string_view ending) {
  if (!file.starts_with(prefix) || !file.ends_with(ending)) return false;
  file = file.substr(prefix.size(), file.size() - prefix.size() - ending.size());
  const auto at = file.find(middle_of_file);
  return at != std::string_view::npos && parse_padded(file.substr(0, at), 5) &&
         parse_padded(file.substr(at + middle_of_file.size()), 5);
}

std::string shard_file(std::size_t shard, std::size_t shards) {
  return numbered("shard-", shard, shards) + ".safetensors";
}

std::string parity_file(std::size_t keeper, std::size_t shards) { return numbered("parity-", keeper, shards); }

bool is_own_file(std::string_view file) {
  return file == index_file || is_numbered(file, "shard-", ".safetensors") || is_numbered(file, "parity-", ".data") ||
         is_numbered(file, "parity-", ".json");
}

bool is_checkpoint_name(std::string_view name) noexcept {
  const auto last = name.find_last_not_of("0123456789");
  const bool has_generation = last != name.npos && name[last] == '~' && last + 1 < name.size();
  return !name.empty() && name.front() != '.' && name.size() <= 200 && name.find('/') == name.npos &&
         name.find('\0') == name.npos && !has_generation;
}

void require_checkpoint_name(std::string_view name) {
  if (!is_checkpoint_name(name))
    fail(errc::invalid, {"\"", name,
                         "\" cannot name a checkpoint: use 1 to 200 characters, no slash, no dot in front, no ~ and "
                         "digits at the end"});
}

std::string directory_name(const generation& of) {
  return of.number == 1 ? of.name : of.name + '~' + std::to_string(of.number);
}

std::optional<generation> parse_generation(std::string_view directory) {
  generation found{std::string(directory)};
  if (const auto at = directory.rfind('~'); at != directory.npos && read_number(directory.substr(at + 1), found.number))
    found.name.resize(at);
  return found.number > 0 && is_checkpoint_name(found.name) && directory_name(found) == directory ? std::optional(found)
                                                                                                  : std::nullopt;
}

}  // namespace detail

bool checkpoint_before(std::string_view a, std::string_view b) {
  const auto step_of_a = detail::parse_checkpoint_name(a), step_of_b = detail::parse_checkpoint_name(b);
  return step_of_a == step_of_b ? a < b : step_of_a < step_of_b;  // no step is less than any
}

}  // namespace cairn::inline v0_1
