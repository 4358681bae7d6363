// SPDX-License-Identifier: MIT
// expect: a class with the operations of a container, tensor, optional, pointer or the like may have members
// expect: list its members with `static auto cairn_fields
// expect: or specialise cairn::adapter<T>, or, if its elements, or its values and shape, are all
// expect: template <> inline constexpr bool cairn::is_container<T> = true;
// expect: "replay: ring"
// expect: "layers\.\*\.weight: tensor"
// expect: "names: map_of_home"
// expect: "seen: set_of_home"
// expect: "best: optional_of_home"
// expect: "calls: stack_of_home"
// expect: "mask: bits_of_home"
// expect: "loss: guarded"
// expect: "object: handle"
// expect: "window: span_of_home"
// expect: "words: words"
// expect: "pair: like_a_tuple"
// Each class has the operations by which Cairn knows the class of the standard library, and the size of a member more.
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/state/describe.hpp"

class ring {
 public:
  using value_type = float;
  auto begin() { return data_.begin(); }
  auto end() { return data_.end(); }
  auto begin() const { return data_.begin(); }
  auto end() const { return data_.end(); }
  std::size_t size() const { return data_.size(); }
  void resize(std::size_t to) { data_.resize(to); }

 private:
  std::vector<float> data_;
  std::size_t head_ = 0;
};
class tensor {
 public:
  float* data() { return values_.data(); }
  const std::vector<std::size_t>& shape() const { return shape_; }

 private:
  std::vector<float> values_, gradient_;
  std::vector<std::size_t> shape_;
};
class map_of_home {
 public:
  using key_type = std::string;
  using mapped_type = int;
  using value_type = std::pair<const std::string, int>;
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  void clear() { all_.clear(); }

 private:
  std::map<std::string, int> all_;
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
  void pop() { all_.pop_back(); }
  bool empty() const { return all_.empty(); }

 private:
  container_type all_;
};
class bits_of_home {
 public:
  void flip(std::size_t i) { bits_ ^= 1UL << i; }
  unsigned long to_ulong() const { return bits_; }
  std::size_t size() const { return 8; }

 private:
  unsigned long bits_ = 0;
};
class guarded {
 public:
  using value_type = int;
  bool is_lock_free() const { return true; }
  int load() const { return value_; }
  void store(int to) { value_ = to; }

 private:
  std::atomic<int> value_{0};
  int writes_ = 0;
};
class handle {
 public:
  using element_type = int;
  using deleter_type = std::default_delete<int>;
  int* release() { return object_.release(); }

 private:
  std::unique_ptr<int> object_;
};
class span_of_home {
 public:
  using value_type = int;
  using element_type = int;
  int* data() const { return first_; }
  int* begin() const { return first_; }
  int* end() const { return first_ + size_; }
  std::size_t size() const { return size_; }
  span_of_home subspan(std::size_t) const { return *this; }

 private:
  int* first_ = nullptr;
  std::size_t size_ = 0;
};
class words : public std::vector<std::string> {  // derived from a known class, with a member of its own
 private:
  std::size_t longest_ = 0;
};
class like_a_tuple {
 public:
  template <std::size_t I>
  int& get() {
    return first_;
  }

 private:
  int first_ = 0;
  short hidden_ = 0;
};
template <>
struct std::tuple_size<like_a_tuple> : std::integral_constant<std::size_t, 1> {};
template <>
struct std::tuple_element<0, like_a_tuple> {
  using type = int;
};

struct layer {
  tensor weight;
};
// clang-format off
struct s1 { ring replay; };
struct s2 { std::map<std::string, layer> layers; };
struct s3 { map_of_home names; };
struct s4 { set_of_home seen; };
struct s5 { optional_of_home best; };
struct s6 { stack_of_home calls; };
struct s7 { bits_of_home mask; };
struct s8 { guarded loss; };
struct s9 { handle object; };
struct s10 { span_of_home window; };
struct s11 { ::words words; };
struct s12 { like_a_tuple pair; };
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
void check(const s11& s) { (void)cairn::detail::describe(s); }  // here
void check(const s12& s) { (void)cairn::detail::describe(s); }  // here
