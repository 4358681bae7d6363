// expect: a part that an adapter passes must not be const
// expect: "const int"
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
    const int limit = 3;
    field("limit", limit);  // here
  }
};

struct state {
  std::vector<owner> all;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
