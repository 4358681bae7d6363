// SPDX-License-Identifier: MIT
// Random numbers of the system, for names that nobody else has.
#pragma once

#include <sys/random.h>

#include <cstdint>
#include <random>

namespace cairn::inline v0_1::detail {

/// 64 random bits. Not by std::random_device: libstdc++ takes the processor's RDSEED, which repeats numbers on some (AMD-SB-7055).
[[nodiscard]] inline std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = std::random_device()();  // a sandbox without the call
  return number;
}

}  // namespace cairn::inline v0_1::detail
