// SPDX-License-Identifier: MIT
// expect: may have members that these do not show
// expect: a base class with `using cairn_bases = cairn::bases<Base>;`
// expect: an aggregate with a base class that has members
// expect: "weights: named"
// expect: "layer: counted_pointer"
// expect: "random: counted_engine"
// expect: "best: marked"
// expect: "values: crtp"
// expect: "weights: aggregate"
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"

class named : public std::vector<float> {
  std::string name_;
};
class counted_pointer : public std::shared_ptr<int> {
  int copies_ = 0;
};
class counted_engine : public std::mt19937 {
  int calls_ = 0;
};
class marked : public std::optional<int> {
  bool mark_ = false;  // in the padding of the optional
};
template <class Derived>
struct list {
  using value_type = float;
  auto begin() { return values.begin(); }
  auto end() { return values.end(); }
  void resize(std::size_t to) { values.resize(to); }
  std::vector<float> values;
};
class crtp : public list<crtp> {
  int version_ = 0;
};
struct aggregate : std::vector<float> {
  std::string name;
};

// clang-format off
struct s1 { named weights; };
struct s2 { counted_pointer layer; };
struct s3 { counted_engine random; };
struct s4 { marked best; };
struct s5 { crtp values; };
struct s6 { aggregate weights; };
// clang-format on

void check(const s1& s) { (void)cairn::detail::describe(s); }  // here
void check(const s2& s) { (void)cairn::detail::describe(s); }  // here
void check(const s3& s) { (void)cairn::detail::describe(s); }  // here
void check(const s4& s) { (void)cairn::detail::describe(s); }  // here
void check(const s5& s) { (void)cairn::detail::describe(s); }  // here
void check(const s6& s) { (void)cairn::detail::describe(s); }  // here
