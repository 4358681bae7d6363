// SPDX-License-Identifier: MIT
// expect: a part that an adapter passes must not be const
// expect: "const int"
// expect: a raw pointer does not say how much it points to
// expect: "int ?\*"
// expect: "layers\.\*\.gradient: float ?\*"
// lines: 126 clang: the functions that call the adapter are between each part and the state
#include <vector>

#include "cairn/state/describe.hpp"

struct layer {
  float* gradient;
};
struct net {
  std::vector<layer> layers;
};
class owner {
 public:
  explicit owner(int);
};

template <>
struct cairn::adapter<owner> {
  template <class Field>
  static void fields(owner& /*object*/, const Field& field) {
    const int limit = 3;
    int* raw = nullptr;
    net parts;
    field("limit", limit);  // here
    field("raw", raw);      // here
    field("net", parts);    // here
  }
};

struct state {
  std::vector<owner> all;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
