// SPDX-License-Identifier: MIT
// The description of a state of many small tensors.
#include "save_load/leaves.hpp"

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "cairn/state/describe.hpp"
#include "common/statistics.hpp"

namespace bench {
namespace {

struct linear {
  std::vector<float> weight = std::vector<float>(16), bias = std::vector<float>(4);
};
struct attention {
  linear query, key, value, out;
};
struct block {
  attention attend;
  linear up, down;
};
using stages = std::vector<std::vector<block>>;  // of few blocks each, so that each tensor is a leaf
struct moments {
  stages first, second;
};
struct many_tensors {
  stages model;
  moments adam;
};

}  // namespace

double describe_ns_per_leaf(std::size_t tensors, std::size_t reps) {
  constexpr std::size_t tensors_per_stage = 12 * 100;
  const stages all(tensors / tensors_per_stage / 3, std::vector<block>(100));
  const many_tensors state{all, {all, all}};
  const std::size_t leaves = 3 * all.size() * tensors_per_stage;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < reps; ++i)
    seconds.push_back(seconds_of([&] {
      if (cairn::detail::describe(state).leaves.size() != leaves)
        throw std::runtime_error("a description has other leaves");
    }));
  return median(seconds) / static_cast<double>(leaves) * 1e9;
}

}  // namespace bench
