// SPDX-License-Identifier: MIT
// expect: a cairn::adapter has `view.object.`, which returns a cairn::tensor_view, or `get.object.` and `set.object, value.`
// expect: "clock: watch"
#include "cairn/state/describe.hpp"

class watch {
 public:
  explicit watch(int);
};

template <>
struct cairn::adapter<watch> {
  static int get(const watch&) { return 0; }
};

struct state {
  watch clock;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
