// SPDX-License-Identifier: MIT
// expect: also of the elements of a span
// expect: "weights"
#include "cairn/state/describe.hpp"

class table {
 public:
  const float* values() const { return values_; }

 private:
  const float* values_ = nullptr;
};

template <>
struct cairn::adapter<table> {
  static tensor_view<const float> view(table& t) { return {t.values(), {3}}; }
};

struct state {
  table weights;
};

void check(state& s) { (void)cairn::refer(s); }  // here
