// What a checkpoint records besides arrays and structure: step, metrics, text of the user, and the memory of the policy.
#pragma once

#include <algorithm>
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

/// Whether a published checkpoint says of a state all that a save of it would, but for notes.
[[nodiscard]] inline bool says_all(const checkpoint_info& published, const checkpoint_info& saved) {
  return published.step == saved.step && published.metadata == saved.metadata &&
         std::all_of(saved.metrics.begin(), saved.metrics.end(), [&](const auto& metric) {
           const auto at = published.metrics.find(metric.first);
           return at != published.metrics.end() && at->second == metric.second;
         });
}

}  // namespace detail
}  // namespace cairn
