// expect: a tensor whose elements are not numbers
// expect: [^a-z]words: cairn::tensor_view
#include <string>

#include "cairn/state/describe.hpp"

struct state {
  cairn::tensor_view<std::string> words;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
