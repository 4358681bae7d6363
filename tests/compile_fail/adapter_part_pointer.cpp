// expect: a raw pointer does not say how much it points to
// expect: "int ?\*"
// lines: 45 clang: the functions that call the adapter are between the part and the state
#include <vector>

#include "cairn/state/describe.hpp"

class owner {
 public:
  explicit owner(int);
};

template <>
struct cairn::adapter<owner> {
  template <class Field>
  static void fields(owner& /*object*/, const Field& field) {
    int* raw = nullptr;
    field("raw", raw);  // here
  }
};

struct state {
  std::vector<owner> all;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
