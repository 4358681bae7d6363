// What a checkpoint says of itself beside its arrays.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cairn {

/// Named lists of numbers that are kept with a checkpoint and are no part of the state: what a policy has learned.
using run_notes = std::map<std::string, std::vector<double>>;

namespace detail {

struct checkpoint_info {
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  run_notes notes{};
};

}  // namespace detail
}  // namespace cairn
