// SPDX-License-Identifier: MIT
// Names of directories in a store's root that are no checkpoints yet, or no longer.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include <sys/random.h>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::stores::detail {

/// 64 random bits. Not by std::random_device: libstdc++ takes RDSEED, which repeats numbers on some CPUs (AMD-SB-7055).
[[nodiscard]] inline std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = std::random_device()();  // a sandbox without the call
  return number;
}

/// `.tmp-<name>.<attempt>`: is being written or deleted.
inline constexpr std::string_view temporary_prefix = ".tmp-";

inline constexpr std::size_t machine_digits = 8, process_digits = 8, random_digits = 8,
                             attempt_digits = machine_digits + process_digits + random_digits;

/// 24 hexadecimal digits: 8 of the machine (`machine_id`), 8 of the process (`process_id`), with zeros for what is not
/// known, and 8 random ones. No two attempts to write a checkpoint have the same.
[[nodiscard]] inline std::string new_attempt(std::string_view machine, std::string_view process) {
  const auto digits = cairn::detail::to_hex(random_number());
  return sentence({machine, std::string(machine_digits - machine.size(), '0'), process,
                   std::string(process_digits - process.size(), '0'),
                   std::string_view(digits).substr(digits.size() - random_digits)});
}

[[nodiscard]] inline std::string hidden_name(std::string_view name, std::string_view attempt) {
  return sentence({temporary_prefix, name, ".", attempt});
}

/// The attempt at the end of a hidden name; empty for names of others.
[[nodiscard]] inline std::string_view attempt_of(std::string_view entry) {
  const auto dot = entry.find_last_not_of("0123456789abcdef");
  if (dot == entry.npos || dot == 0 || entry[dot] != '.') return {};
  const auto attempt = entry.substr(dot + 1);
  return attempt.size() == attempt_digits ? attempt : std::string_view();
}

/// The digits of the machine and the process in an attempt; empty where it does not have those of a process.
[[nodiscard]] inline std::string_view writer_of(std::string_view attempt) {
  if (attempt.size() != attempt_digits) return {};
  const auto process = attempt.substr(machine_digits, process_digits);
  return process.find_first_not_of('0') == process.npos ? std::string_view()
                                                        : attempt.substr(0, machine_digits + process_digits);
}

/// The checkpoint's name in a hidden name; empty for other names, which are not Cairn's.
[[nodiscard]] inline std::string_view hidden_checkpoint(std::string_view entry) {
  if (!entry.starts_with(temporary_prefix)) return {};
  entry.remove_prefix(temporary_prefix.size());
  const auto attempt = attempt_of(entry);
  return attempt.empty() ? attempt : entry.substr(0, entry.size() - attempt.size() - 1);
}

}  // namespace cairn::inline v0_1::stores::detail
