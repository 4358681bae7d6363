// SPDX-License-Identifier: MIT
// expect: need operator<
// expect: "keys: std::unordered_set<key, hash>"
#include <unordered_set>

#include "cairn/state/describe.hpp"

class key {
 public:
  friend bool operator==(const key&, const key&) = default;
  static auto cairn_fields() { return cairn::fields<&key::value_>{}; }

 private:
  int value_ = 0;
};
struct hash {
  std::size_t operator()(const key&) const { return 0; }
};
struct state {
  std::unordered_set<key, hash> keys;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
