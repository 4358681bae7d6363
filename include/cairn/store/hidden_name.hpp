// Names of directories in a store's root that are no checkpoints yet, or no longer.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"

namespace cairn::stores::detail {

/// `.tmp-<name>.<attempt>`: is being written or deleted. `.old-<name>.<attempt>`: a checkpoint that is being replaced, on a file system that
/// cannot exchange names; it is the checkpoint `<name>` while there is no other one.
inline constexpr std::string_view temporary_prefix = ".tmp-", replaced_prefix = ".old-";

inline constexpr std::size_t machine_digits = 8, attempt_digits = 16;

/// 16 hexadecimal digits: the 8 of the machine (`machine_id`), or zeros where it is not known, and 8 random ones. No two attempts to write a checkpoint have the
/// same.
[[nodiscard]] inline std::string new_attempt(std::string_view machine) {
  std::random_device random;
  const auto digits = cairn::detail::to_hex(random());
  return sentence(
      {machine, std::string(machine_digits - machine.size(), '0'), std::string_view(digits).substr(machine_digits)});
}

[[nodiscard]] inline std::string hidden_name(std::string_view prefix, std::string_view name, std::string_view attempt) {
  return sentence({prefix, name, ".", attempt});
}

/// The attempt at the end of a hidden name; empty in those of earlier versions.
[[nodiscard]] inline std::string_view attempt_of(std::string_view entry) {
  if (entry.size() < attempt_digits + 2) return {};
  const auto dot = entry.size() - attempt_digits - 1;
  const bool has_attempt = entry[dot] == '.' && entry.find_last_not_of("0123456789abcdef") == dot;
  return has_attempt ? entry.substr(dot + 1) : std::string_view();
}

/// The checkpoint's name in a name with that prefix; empty for other names.
[[nodiscard]] inline std::string_view hidden_checkpoint(std::string_view entry, std::string_view prefix) {
  if (!entry.starts_with(prefix)) return {};
  entry.remove_prefix(prefix.size());
  const auto attempt = attempt_of(entry);
  return attempt.empty() ? entry : entry.substr(0, entry.size() - attempt.size() - 1);
}

}  // namespace cairn::stores::detail
