// SPDX-License-Identifier: MIT
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

struct number {
  explicit number(int n) : value(n) {}
  int value;
  static auto cairn_fields() { return cairn::fields<&number::value>{}; }
};
struct node {
  node() = default;
  node(const node&) = default;
  node& operator=(const node&) = delete;
  int a = 0;
  static auto cairn_fields() { return cairn::fields<&node::a>{}; }
};
struct not_copied {
  std::unique_ptr<int> number = std::make_unique<int>();
  bool operator<(const not_copied& other) const { return *number < *other.number; }
};
class without_order {
 public:
  friend bool operator==(const without_order&, const without_order&) = default;
  static auto cairn_fields() { return cairn::fields<&without_order::value_>{}; }

 private:
  int value_ = 0;
};
struct hash {
  std::size_t operator()(const without_order&) const { return 0; }
};
class gpu_tensor {
 public:
  float* data();
  std::vector<std::size_t> shape() const;
  bool is_cuda() const;

 private:
  float* memory_ = nullptr;
};

// clang-format off
struct s1 { std::vector<number> all; };
struct s2 { std::list<node> all; };
struct s3 { std::set<not_copied> keys; };
struct s4 { std::set<std::shared_ptr<int>> keys; };
struct s5 { std::unordered_set<without_order, hash> keys; };
struct s6 { std::span<std::string> names; };
struct s7 { std::valarray<std::string> names; };
struct s8 { cairn::tensor_view<std::string> words; };
struct s9 { gpu_tensor weight; };
// clang-format on

// expect: give their type a default constructor
void check(const s1& s) { (void)describe(s); }  // here "all: std::vector<number>"
// expect: give its type an operator=
void check(const s2& s) { (void)describe(s); }  // here "all: std::__cxx11::list<node|"all: std::list<node
// expect: use values in place of pointers, .* and of what cannot be copied
void check(const s3& s) { (void)describe(s); }  // here "keys: std::set<not_copied>"
void check(const s4& s) { (void)describe(s); }  // here "keys: std::set<std::shared_ptr<int> ?>"
// expect: give the keys of an unordered container an operator<
void check(const s5& s) { (void)describe(s); }  // here "keys: std::unordered_set<without_order, hash>"
// expect: a span or valarray has elements of fixed layout
void check(const s6& s) { (void)describe(s); }  // here "names: std::span<std::(__cxx11::)?basic_string<
// expect: use std::vector
void check(const s7& s) { (void)describe(s); }  // here "names: std::valarray<std::.*basic_string<char> ?>"
// expect: a tensor numbers of up to 64 bits
// expect: "words: cairn::(v0_1::)?tensor_view<std::.*basic_string<char> ?>"
void check(const s8& s) { (void)describe(s); }  // here
// expect: a tensor that may be on a device: specialise cairn::adapter<T> with a view that has copy functions
void check(const s9& s) { (void)describe(s); }  // here "weight: gpu_tensor"
