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

/// 16 random hexadecimal digits: no two attempts to write a checkpoint have the same, whatever host they are on.
[[nodiscard]] inline std::string new_attempt() {
  std::random_device random;
  return cairn::detail::to_hex(std::uint64_t{random()} << 32U | random());
}

[[nodiscard]] inline std::string hidden_name(std::string_view prefix, std::string_view name, std::string_view attempt) {
  return sentence({prefix, name, ".", attempt});
}

/// The checkpoint's name in a name with that prefix; empty for other names.
[[nodiscard]] inline std::string_view hidden_checkpoint(std::string_view entry, std::string_view prefix) {
  constexpr std::size_t digits = 16;
  if (!entry.starts_with(prefix)) return {};
  entry.remove_prefix(prefix.size());
  const bool has_attempt = entry.size() > digits + 1 && entry[entry.size() - digits - 1] == '.' &&
                           entry.find_last_not_of("0123456789abcdef") == entry.size() - digits - 1;
  return has_attempt ? entry.substr(0, entry.size() - digits - 1) : entry;  // earlier versions wrote no attempt
}

}  // namespace cairn::stores::detail
