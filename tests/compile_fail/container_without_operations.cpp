// SPDX-License-Identifier: MIT
// expect: cairn::is_container<T> is true, but the class lacks an operation that a save or a load calls
// expect: "names: map_of_home"
// expect: "seen: set_of_home"
// expect: "words: words"
// expect: "best: optional_of_home"
// expect: "calls: stack_of_home"
// expect: "mask: bits_of_home"
// expect: "object: handle"
// expect: "shared: shared_handle"
// expect: "none: no_container"
// expect: "record: no_operations"
// Classes of which the user says that they are containers, with a part of the operations.
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/state/describe.hpp"

class map_of_home {
 public:
  using key_type = std::string;
  using mapped_type = std::vector<int>;
  using value_type = std::pair<const std::string, std::vector<int>>;
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  void clear() { all_.clear(); }
  std::vector<int>& operator[](const std::string& key) { return all_[key]; }

 private:
  std::map<std::string, std::vector<int>> all_;
};
class set_of_home {
 public:
  using key_type = std::string;
  using value_type = std::string;
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  void clear() { all_.clear(); }

 private:
  std::set<std::string> all_;
};
class words {  // has no begin and end for a const one
 public:
  using value_type = std::string;
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  void resize(std::size_t to) { all_.resize(to); }

 private:
  std::vector<std::string> all_;
};
class optional_of_home {
 public:
  using value_type = int;
  bool has_value() const { return set_; }
  int& operator*() { return value_; }
  void reset() { set_ = false; }

 private:
  int value_ = 0;
  bool set_ = false;
};
class stack_of_home {
 public:
  using container_type = std::vector<int>;
  void pop() { c.pop_back(); }
  bool empty() const { return c.empty(); }

 private:
  container_type c;
};
class bits_of_home {
 public:
  void flip(std::size_t i) { bits_ ^= 1UL << i; }
  unsigned long to_ulong() const { return bits_; }
  std::size_t size() const { return 8; }
  bool operator[](std::size_t i) const { return bits_ >> i & 1; }

 private:
  unsigned long bits_ = 0;
};
class handle {
 public:
  using element_type = int;
  using deleter_type = std::default_delete<int>;
  int* release() { return object_.release(); }

 private:
  std::unique_ptr<int> object_;
};
class shared_handle {
 public:
  using element_type = int;
  using weak_type = int;
  int use_count() const { return 1; }

 private:
  std::shared_ptr<int> object_;
};
class no_container {
  int value_ = 0;
};
struct no_operations {
  int value = 0;
};

// clang-format off
template <> inline constexpr bool cairn::is_container<map_of_home> = true;
template <> inline constexpr bool cairn::is_container<set_of_home> = true;
template <> inline constexpr bool cairn::is_container<words> = true;
template <> inline constexpr bool cairn::is_container<optional_of_home> = true;
template <> inline constexpr bool cairn::is_container<stack_of_home> = true;
template <> inline constexpr bool cairn::is_container<bits_of_home> = true;
template <> inline constexpr bool cairn::is_container<handle> = true;
template <> inline constexpr bool cairn::is_container<shared_handle> = true;
template <> inline constexpr bool cairn::is_container<no_container> = true;
template <> inline constexpr bool cairn::is_container<no_operations> = true;

struct s1 { map_of_home names; };
struct s2 { set_of_home seen; };
struct s3 { ::words words; };
struct s4 { optional_of_home best; };
struct s5 { stack_of_home calls; };
struct s6 { bits_of_home mask; };
struct s7 { handle object; };
struct s8 { shared_handle shared; };
struct s9 { no_container none; };
struct s10 { no_operations record; };
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
