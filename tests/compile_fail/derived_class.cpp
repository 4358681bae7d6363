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
// expect: "noise: counted_noise"
// expect: "noise: private_noise"
// expect: "random: skipping_engine"
// expect: "random: counting_engine<int>"
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
struct counted_noise : std::normal_distribution<> {
  int calls = 0;
};
class private_noise : public std::normal_distribution<> {
  int calls_ = 0;
};
class skipping_engine : public std::mt19937 {
 public:
  void discard(unsigned long long n) { skipped_ += n; }

 private:
  unsigned long long skipped_ = 0;
};
template <class Tag>
class counting_engine : public std::linear_congruential_engine<unsigned, 48271, 0, 2147483647> {
 public:
  auto operator()() { return ++calls_, linear_congruential_engine::operator()(); }
  void discard(unsigned long long n) { calls_ += n; }

 private:
  unsigned long long calls_ = 0;
};

// clang-format off
struct s1 { named weights; };
struct s2 { counted_pointer layer; };
struct s3 { counted_engine random; };
struct s4 { marked best; };
struct s5 { crtp values; };
struct s6 { aggregate weights; };
struct s7 { counted_noise noise; };
struct s8 { private_noise noise; };
struct s9 { skipping_engine random; };
struct s10 { counting_engine<int> random; };
// clang-format on

void check(const s1& s) { (void)cairn::detail::describe(s); }   // here
void check(const s2& s) { (void)cairn::detail::describe(s); }   // here
void check(const s3& s) { (void)cairn::detail::describe(s); }   // here
void check(const s4& s) { (void)cairn::detail::describe(s); }   // here
void check(const s5& s) { (void)cairn::detail::describe(s); }   // here
void check(const s6& s) { (void)cairn::detail::describe(s); }   // here
void check(const s7& s) { (void)cairn::detail::describe(s); }   // here
void check(const s8& s) { (void)cairn::detail::describe(s); }   // here
void check(const s9& s) { (void)cairn::detail::describe(s); }   // here
void check(const s10& s) { (void)cairn::detail::describe(s); }  // here
