// SPDX-License-Identifier: MIT
// Classes that have the operations by which Cairn knows a class of the standard library, or are said to be containers.
#include "cairn/state/describe.hpp"

#include "../standard.hpp"

using cairn::detail::describe;

template <bool SaidToBeContainer>
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
template <bool>
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
template <bool>
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
template <bool>
class stack_of_home {
 public:
  using container_type = std::vector<int>;
  void pop() { c.pop_back(); }
  bool empty() const { return c.empty(); }

 private:
  container_type c;
};
template <bool>
class bits_of_home {
 public:
  void flip(std::size_t i) { bits_ ^= 1UL << i; }
  unsigned long to_ulong() const { return bits_; }
  std::size_t size() const { return 8; }
  bool operator[](std::size_t i) const { return bits_ >> i & 1; }

 private:
  unsigned long bits_ = 0;
};
template <bool>
class handle {
 public:
  using element_type = int;
  using deleter_type = std::default_delete<int>;
  int* release() { return object_.release(); }

 private:
  std::unique_ptr<int> object_;
};
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

// Derived from a known class, with a member of its own.
class words : public std::vector<std::string> {
  std::size_t longest_ = 0;
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
struct h0 { ring replay; };
struct layer { tensor weight; };
struct h1 { std::map<std::string, layer> layers; };
struct h2 { map_of_home<false> names; };
struct h3 { set_of_home<false> seen; };
struct h4 { optional_of_home<false> best; };
struct h5 { stack_of_home<false> calls; };
struct h6 { bits_of_home<false> mask; };
struct h7 { guarded loss; };
struct h8 { handle<false> object; };
struct h9 { span_of_home window; };
struct h10 { like_a_tuple pair; };
struct d1 { ::words words; };
struct d2 { counted_pointer layer; };
struct d3 { counted_engine random; };
struct d4 { marked best; };
struct d5 { crtp values; };
struct d6 { aggregate weights; };
struct d7 { counted_noise noise; };
struct d8 { private_noise noise; };
struct d9 { skipping_engine random; };
struct d10 { counting_engine<int> random; };
// clang-format on

// expect: a class with the operations of a container, tensor, optional, pointer or the like may have members
// expect: list its members with `static auto cairn_fields
// expect: or specialise cairn::adapter<T>, or, if its elements, or its values and shape, are all
// expect: template <> inline constexpr bool cairn::is_container<T> = true;
void check(const h0& s) { (void)describe(s); }   // here "replay: ring"
void check(const h1& s) { (void)describe(s); }   // here "layers\.\*\.weight: tensor"
void check(const h2& s) { (void)describe(s); }   // here "names: map_of_home<false>"
void check(const h3& s) { (void)describe(s); }   // here "seen: set_of_home<false>"
void check(const h4& s) { (void)describe(s); }   // here "best: optional_of_home<false>"
void check(const h5& s) { (void)describe(s); }   // here "calls: stack_of_home<false>"
void check(const h6& s) { (void)describe(s); }   // here "mask: bits_of_home<false>"
void check(const h7& s) { (void)describe(s); }   // here "loss: guarded"
void check(const h8& s) { (void)describe(s); }   // here "object: handle<false>"
void check(const h9& s) { (void)describe(s); }   // here "window: span_of_home"
void check(const h10& s) { (void)describe(s); }  // here "pair: like_a_tuple"

// expect: may have members that these do not show
// expect: a base class with `using cairn_bases = cairn::bases<Base>;`
void check(const d1& s) { (void)describe(s); }   // here "words: words"
void check(const d2& s) { (void)describe(s); }   // here "layer: counted_pointer"
void check(const d3& s) { (void)describe(s); }   // here "random: counted_engine"
void check(const d4& s) { (void)describe(s); }   // here "best: marked"
void check(const d5& s) { (void)describe(s); }   // here "values: crtp"
void check(const d8& s) { (void)describe(s); }   // here "noise: private_noise"
void check(const d9& s) { (void)describe(s); }   // here "random: skipping_engine"
void check(const d10& s) { (void)describe(s); }  // here "random: counting_engine<int>"
// expect: this aggregate, as it has a base class with members
void check(const d6& s) { (void)describe(s); }  // here "weights: aggregate"
void check(const d7& s) { (void)describe(s); }  // here "noise: counted_noise"

class without_const_begin {
 public:
  using value_type = std::string;
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  void resize(std::size_t to) { all_.resize(to); }

 private:
  std::vector<std::string> all_;
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
template <> inline constexpr bool cairn::is_container<map_of_home<true>> = true;
template <> inline constexpr bool cairn::is_container<set_of_home<true>> = true;
template <> inline constexpr bool cairn::is_container<optional_of_home<true>> = true;
template <> inline constexpr bool cairn::is_container<stack_of_home<true>> = true;
template <> inline constexpr bool cairn::is_container<bits_of_home<true>> = true;
template <> inline constexpr bool cairn::is_container<handle<true>> = true;
template <> inline constexpr bool cairn::is_container<without_const_begin> = true;
template <> inline constexpr bool cairn::is_container<shared_handle> = true;
template <> inline constexpr bool cairn::is_container<no_container> = true;
template <> inline constexpr bool cairn::is_container<no_operations> = true;

struct c1 { map_of_home<true> names; };
struct c2 { set_of_home<true> seen; };
struct c3 { without_const_begin words; };
struct c4 { optional_of_home<true> best; };
struct c5 { stack_of_home<true> calls; };
struct c6 { bits_of_home<true> mask; };
struct c7 { handle<true> object; };
struct c8 { shared_handle shared; };
struct c9 { no_container none; };
struct c10 { no_operations record; };
// clang-format on

// expect: cairn::is_container<T> is true, but the class lacks an operation that a save or a load calls
void check(const c1& s) { (void)describe(s); }   // here "names: map_of_home<true>"
void check(const c2& s) { (void)describe(s); }   // here "seen: set_of_home<true>"
void check(const c3& s) { (void)describe(s); }   // here "words: without_const_begin"
void check(const c4& s) { (void)describe(s); }   // here "best: optional_of_home<true>"
void check(const c5& s) { (void)describe(s); }   // here "calls: stack_of_home<true>"
void check(const c6& s) { (void)describe(s); }   // here "mask: bits_of_home<true>"
void check(const c7& s) { (void)describe(s); }   // here "object: handle<true>"
void check(const c8& s) { (void)describe(s); }   // here "shared: shared_handle"
void check(const c9& s) { (void)describe(s); }   // here "none: no_container"
void check(const c10& s) { (void)describe(s); }  // here "record: no_operations"
