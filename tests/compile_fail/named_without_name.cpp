// SPDX-License-Identifier: MIT
// expect: gives a class a name or a former name without characters
// expect: unique_ptr<layer>
#include <memory>

#include "cairn/state/describe.hpp"

struct layer {
  virtual ~layer() = default;
};
class dense : public layer {
 public:
  float weight = 0;
  static auto cairn_fields() { return cairn::fields<&dense::weight>{}; }
};

template <>
struct cairn::polymorphic<layer> : cairn::one_of<cairn::named<"", dense>> {};

void check(std::unique_ptr<layer>& pointer) { (void)cairn::detail::describe(pointer); }  // here
