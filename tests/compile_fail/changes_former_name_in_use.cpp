// SPDX-License-Identifier: MIT
// expect: gives a member a former name that another member has
// expect: "layers\.\*: layer"
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

class layer {
 public:
  static auto cairn_fields() { return cairn::fields<&layer::weight_, &layer::bias_>{}; }
  using cairn_changes = cairn::changes<cairn::renamed<"weight", "bias">, cairn::removed<"momentum">>;

 private:
  std::vector<float> weight_, bias_;
};
struct state {
  std::vector<layer> layers;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
