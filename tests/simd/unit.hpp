// SPDX-License-Identifier: MIT
// What a unit says of the kernels that it has; included by units that are compiled for different machines.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace units {

struct finding {
  std::map<std::string, std::int64_t> targets;   ///< that were chosen, by family of kernels; Highway's numbers
  std::map<std::string, std::string> codecs;     ///< that did the work, where not the values are smaller
  std::map<std::string, std::uint64_t> results;  ///< hashes of what came out
};

finding plain();
finding avx2();
finding native();

}  // namespace units
