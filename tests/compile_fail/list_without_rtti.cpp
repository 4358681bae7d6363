// SPDX-License-Identifier: MIT
// expect: needs RTTI
// expect: "first: std::unique_ptr<layer>"
// options: -fno-rtti
#include <memory>

#include "cairn/fields.hpp"
#include "cairn/state/describe.hpp"

struct layer {
  virtual ~layer() = default;
};
struct dense : layer {
  int id = 0;
  static auto cairn_fields() { return cairn::fields<&dense::id>{}; }
};
template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense> {};
struct state {
  std::unique_ptr<layer> first;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
