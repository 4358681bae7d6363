// SPDX-License-Identifier: MIT
// expect: inherits the field list of a base class
// expect: "layers\.\*: dense"
#include <memory>
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  virtual ~layer() = default;
  int id = 0;
  static auto cairn_fields() { return cairn::fields<&layer::id>{}; }
};
struct dense : layer {
  std::vector<float> weight;
};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense> {};
struct state {
  std::vector<std::unique_ptr<layer>> layers;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
