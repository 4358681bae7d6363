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
struct moments {
  std::vector<block> first, second;
};
struct many_tensors {
  std::vector<block> model;
  moments adam;
};

}  // namespace

double describe_ns_per_leaf(std::size_t tensors, std::size_t reps) {
  constexpr std::size_t tensors_per_block = 12;
  const std::vector<block> blocks(tensors / tensors_per_block / 3);
  const many_tensors state{blocks, {blocks, blocks}};
  const std::size_t leaves = 3 * blocks.size() * tensors_per_block;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < reps; ++i)
    seconds.push_back(seconds_of([&] {
      if (cairn::detail::describe(state).leaves.size() != leaves)
        throw std::runtime_error("a description has other leaves");
    }));
  return median(seconds) / static_cast<double>(leaves) * 1e9;
}

}  // namespace bench
