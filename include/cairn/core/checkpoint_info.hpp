// What a checkpoint records besides arrays and structure: step, metrics, text of the user, and the memory of the policy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cairn {

/// What a policy has learned, as named lists of numbers. Every checkpoint keeps it; it is not part of the state.
using policy_memory = std::map<std::string, std::vector<double>>;

namespace detail {

struct checkpoint_info {
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  policy_memory notes{};
  std::map<std::string, std::string> metadata{};  ///< of the user
};

}  // namespace detail
}  // namespace cairn
