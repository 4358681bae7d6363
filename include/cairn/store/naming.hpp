// Names of checkpoints and of the files in them: "step-000000120", "shard-00000-of-00004.safetensors",
// "index.json".
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/core/error.hpp"

namespace cairn {

inline constexpr std::string_view index_file = "index.json";

namespace detail {

[[nodiscard]] inline std::string zero_padded(std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

/// The number that `text` is, at least `digits` decimal digits and nothing else.
[[nodiscard]] inline std::optional<std::uint64_t> parse_padded(std::string_view text, std::size_t digits) {
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (zero_padded(number, digits) != text) return std::nullopt;
  return number;
}

}  // namespace detail

/// 120 -> "step-000000120".
[[nodiscard]] inline std::string checkpoint_name(std::uint64_t step) { return "step-" + detail::zero_padded(step, 9); }

/// "step-000000120" -> 120; nothing for any other name.
[[nodiscard]] inline std::optional<std::uint64_t> parse_checkpoint_name(std::string_view name) {
  if (!name.starts_with("step-")) return std::nullopt;
  return detail::parse_padded(name.substr(5), 9);
}

/// (0, 4) -> "shard-00000-of-00004.safetensors".
[[nodiscard]] inline std::string shard_file(std::size_t shard, std::size_t shards) {
  return "shard-" + detail::zero_padded(shard, 5) + "-of-" + detail::zero_padded(shards, 5) + ".safetensors";
}

/// Whether `file` is one that Cairn writes into a checkpoint: the only ones it ever deletes.
[[nodiscard]] inline bool is_own_file(std::string_view file) {
  if (file == index_file) return true;
  constexpr std::string_view prefix = "shard-", middle = "-of-", suffix = ".safetensors";
  if (!file.starts_with(prefix) || !file.ends_with(suffix)) return false;
  if (file.size() < prefix.size() + suffix.size()) return false;
  file = file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
  const auto at = file.find(middle);
  return at != std::string_view::npos && detail::parse_padded(file.substr(0, at), 5) &&
         detail::parse_padded(file.substr(at + middle.size()), 5);
}

/// The order of checkpoints: names without a step by name, then steps by number.
[[nodiscard]] inline bool checkpoint_before(std::string_view a, std::string_view b) {
  const auto step_a = parse_checkpoint_name(a), step_b = parse_checkpoint_name(b);
  if (step_a && step_b) return *step_a < *step_b;
  if (step_a.has_value() != step_b.has_value()) return step_b.has_value();
  return a < b;
}

/// Whether `name` can be the name of a directory entry: not empty, no slash, no leading dot.
[[nodiscard]] inline bool is_checkpoint_name(std::string_view name) noexcept {
  return !name.empty() && name.front() != '.' && name.size() <= 200 && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

/// Throws errc::invalid unless `is_checkpoint_name`.
inline void require_checkpoint_name(std::string_view name) {
  if (!is_checkpoint_name(name))
    fail(errc::invalid,
         {"\"", name, "\" cannot name a checkpoint: use 1 to 200 characters, no slash, no dot in front"});
}

}  // namespace cairn
