// SPDX-License-Identifier: MIT
// expect: specialise cairn::adapter for its class
// expect: "weight\.first: float ?\*"
#include <array>
#include <cstddef>
#include <string>

#include "cairn/state/describe.hpp"

struct parameter {
  float* first;
  std::array<std::size_t, 2> dims;
  std::string name;
  float* data() const { return first; }
  const std::array<std::size_t, 2>& shape() const { return dims; }
};
struct state {
  parameter weight;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
