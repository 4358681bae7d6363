// SPDX-License-Identifier: MIT
#include "cairn/state/category.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

using cairn::detail::category;

template <category Expected, class... Types>
constexpr bool all_are = ((cairn::detail::category_of<Types>() == Expected) && ...);

enum plain { a };
enum class scoped : char { a };
struct record {
  int x;
};
class own_engine {
 public:
  using result_type = unsigned;
  void seed() {}
  void discard(unsigned long long) {}
  [[maybe_unused]] friend std::ostream& operator<<(std::ostream& out, const own_engine& e) { return out << e.at_; }
  [[maybe_unused]] friend std::istream& operator>>(std::istream& in, own_engine& e) { return in >> e.at_; }

 private:
  unsigned at_ = 0;
};
struct with_virtual {
  virtual ~with_virtual() = default;
};

TEST_CASE("every type is in exactly the category that it belongs to") {
  STATIC_REQUIRE(
      all_are<category::scalar, bool, char, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t, short,
              unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long, float, double, plain,
              scoped, std::byte, cairn::float16, cairn::bfloat16, cairn::float8_e4m3, cairn::float8_e5m2>);
  STATIC_REQUIRE(all_are<category::wide_scalar, long double>);
  STATIC_REQUIRE(all_are<category::skipped, cairn::skip<int>>);
  STATIC_REQUIRE(all_are<category::references, cairn::state, cairn::const_state>);
  STATIC_REQUIRE(all_are<category::complex, std::complex<float>, std::complex<double>>);
  STATIC_REQUIRE(all_are<category::duration, std::chrono::seconds, std::chrono::duration<double>,
                         std::chrono::system_clock::time_point, std::chrono::sys_days>);
  STATIC_REQUIRE(all_are<category::fixed_array, int[3], float[2][2], std::array<int, 0>, std::array<std::string, 2>>);
  STATIC_REQUIRE(all_are<category::tuple, std::pair<int, int>, std::tuple<>, std::tuple<int, std::string>>);
  STATIC_REQUIRE(all_are<category::record, record, std::monostate>);
  STATIC_REQUIRE(all_are<category::tensor, cairn::tensor_view<float>>);
  STATIC_REQUIRE(all_are<category::span, std::span<int>, std::span<float, 4>>);
  STATIC_REQUIRE(all_are<category::bits, std::bitset<3>, std::vector<bool>>);
  STATIC_REQUIRE(all_are<category::valarray, std::valarray<int>>);
  STATIC_REQUIRE(all_are<category::path, std::filesystem::path>);
  STATIC_REQUIRE(all_are<category::sequence, std::vector<int>, std::string, std::wstring, std::deque<int>,
                         std::list<int>, std::forward_list<int>, std::vector<std::vector<int>>>);
  STATIC_REQUIRE(all_are<category::map, std::map<int, int>, std::multimap<int, int>, std::unordered_map<int, int>,
                         std::unordered_multimap<int, int>>);
  STATIC_REQUIRE(
      all_are<category::set, std::set<int>, std::multiset<int>, std::unordered_set<int>, std::unordered_multiset<int>>);
  STATIC_REQUIRE(all_are<category::container_adaptor, std::stack<int>, std::queue<int>, std::priority_queue<int>>);
  STATIC_REQUIRE(all_are<category::optional, std::optional<int>, std::optional<std::vector<int>>>);
  STATIC_REQUIRE(all_are<category::variant, std::variant<int, float>>);
  STATIC_REQUIRE(all_are<category::unique_pointer, std::unique_ptr<int>>);
  STATIC_REQUIRE(all_are<category::shared_pointer, std::shared_ptr<int>>);
  STATIC_REQUIRE(all_are<category::weak_pointer, std::weak_ptr<int>>);
  STATIC_REQUIRE(all_are<category::atomic, std::atomic<int>, std::atomic<bool>, std::atomic<double>>);
  STATIC_REQUIRE(all_are<category::random, std::mt19937_64, std::minstd_rand, std::ranlux48, std::knuth_b,
                         std::independent_bits_engine<std::mt19937, 7, unsigned>, std::normal_distribution<>,
                         std::discrete_distribution<>, std::bernoulli_distribution, own_engine>);
  STATIC_REQUIRE(all_are<category::unsupported, int*, void (*)(), with_virtual, std::string_view, std::random_device,
                         std::chrono::year_month_day, std::chrono::weekday, std::chrono::duration<long double>,
                         std::complex<long double>>);
}

TEST_CASE("dtypes follow size and sign; characters are text") {
  using cairn::dtype;
  using cairn::detail::dtype_of;
  STATIC_REQUIRE(dtype_of<char>() == dtype::u8);
  STATIC_REQUIRE(dtype_of<signed char>() == dtype::i8);
  STATIC_REQUIRE(dtype_of<std::byte>() == dtype::u8);
  STATIC_REQUIRE(dtype_of<scoped>() == dtype::u8);
  STATIC_REQUIRE(dtype_of<plain>() == dtype::u32);
  STATIC_REQUIRE(dtype_of<long>() == dtype::i64);
  STATIC_REQUIRE(dtype_of<unsigned short>() == dtype::u16);
  STATIC_REQUIRE(dtype_of<double>() == dtype::f64);
  STATIC_REQUIRE(dtype_of<bool>() == dtype::boolean);
  STATIC_REQUIRE(dtype_of<cairn::bfloat16>() == dtype::bf16);
}

/// Aggregates with the operations of other categories.
struct stamp {
  int y = 0, m = 0, d = 0, seconds = 0;
  [[nodiscard]] bool ok() const { return true; }
  [[nodiscard]] int year() const { return y; }
  [[nodiscard]] int month() const { return m; }
  [[nodiscard]] int day() const { return d; }
};
struct counted_optional {
  using value_type = std::vector<float>;
  value_type value;
  bool has = false;
  int hits = 0;
  [[nodiscard]] bool has_value() const { return has; }
  [[nodiscard]] value_type& operator*() { return value; }
  void reset() { has = false; }
};
struct counted_atomic {
  using value_type = int;
  int value = 0, stores = 0;
  [[nodiscard]] bool is_lock_free() const { return true; }
  [[nodiscard]] int load() const { return value; }
  void store(int to) { value = to, ++stores; }
};
struct parameter {
  std::vector<float> values;
  std::vector<std::size_t> dims{0};
  std::string name;
  [[nodiscard]] float* data() { return values.data(); }
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return dims; }
};
struct plain_list {
  using value_type = float;
  std::vector<float> values;
  [[nodiscard]] auto begin() { return values.begin(); }
  [[nodiscard]] auto end() { return values.end(); }
  void resize(std::size_t to) { values.resize(to); }
};

/// A sequence with a further member, which the user says is no state.
template <class T>
class ring {
 public:
  using value_type = T;
  ring() = default;
  explicit ring(std::vector<T> all) : all_(std::move(all)), uses(7) {}
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] static std::size_t max_size() { return 4; }
  void resize(std::size_t to) { all_.resize(to); }

 private:
  std::vector<T> all_;

 public:
  int uses = 5;
};

/// A container of each other kind, which has the operations by those of a member.
template <class T>
class inside {
 public:
  using value_type = typename T::value_type;
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  void clear() { all_.clear(); }
  auto erase(typename T::iterator at) { return all_.erase(at); }
  auto insert(typename T::const_iterator, value_type value) { return all_.insert(std::move(value)).first; }
  template <class... Arguments>
  auto emplace_hint(typename T::const_iterator at, Arguments&&... arguments) {
    return all_.emplace_hint(at, std::forward<Arguments>(arguments)...);
  }
  template <class Key>
  [[nodiscard]] auto find(const Key& key) {
    return all_.find(key);
  }
  template <class Key>
  [[nodiscard]] auto equal_range(const Key& key) {
    return all_.equal_range(key);
  }

 protected:
  T all_;
};
class home_map : public inside<std::map<std::string, std::vector<std::string>>> {
 public:
  using key_type = std::string;
  using mapped_type = std::vector<std::string>;
  using key_compare = std::less<>;
  [[nodiscard]] key_compare key_comp() const { return {}; }
  [[nodiscard]] mapped_type& operator[](const std::string& key) { return all_[key]; }
};
class home_set : public inside<std::unordered_set<int>> {
 public:
  using key_type = int;
  using hasher = std::hash<int>;
  using key_equal = std::equal_to<>;
  [[nodiscard]] hasher hash_function() const { return {}; }
  [[nodiscard]] key_equal key_eq() const { return {}; }
};
class home_optional {
 public:
  using value_type = int;
  [[nodiscard]] bool has_value() const { return value_.has_value(); }
  [[nodiscard]] int& operator*() { return *value_; }
  void reset() { value_.reset(); }
  void emplace() { value_.emplace(); }

 private:
  std::optional<int> value_;
};
class home_tensor {
 public:
  explicit home_tensor(std::vector<std::size_t> shape = {0, 0}) { resize(shape); }
  [[nodiscard]] float* data() { return values_.data(); }
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  template <class Shape>
  void resize(const Shape& to) {
    shape_.assign(to.begin(), to.end());
    values_.resize(shape_[0] * shape_[1]);
  }

 private:
  std::vector<std::size_t> shape_;
  std::vector<float> values_;
};
class home_stack {
 public:
  using container_type = std::vector<int>;
  void push(int value) { c.push_back(value); }
  void pop() { c.pop_back(); }
  [[nodiscard]] int top() const { return c.back(); }
  [[nodiscard]] bool empty() const { return c.empty(); }

 protected:
  container_type c;
};

/// A tuple by member functions, as structured bindings allow.
class three {
 public:
  template <std::size_t I>
  [[nodiscard]] int& get() {
    return I == 0 ? a_ : I == 1 ? b_ : c_;
  }
  template <std::size_t I>
  [[nodiscard]] const int& get() const {
    return I == 0 ? a_ : I == 1 ? b_ : c_;
  }

 private:
  int a_ = 0, b_ = 0, c_ = 0;
};

/// Classes derived from those of the standard library.
struct ids : std::vector<int> {
  using std::vector<int>::vector;
};
struct said_ids : std::vector<int> {
  using std::vector<int>::vector;
};
class derived_draw : public std::bernoulli_distribution {};
class counted_engine : public std::mt19937 {
  [[maybe_unused]] int calls_ = 0;
};
class engine : public std::mt19937 {};
class named_map : public std::map<int, int> {
  [[maybe_unused]] int version_ = 0;
};
class with_virtual_function : public std::vector<int> {
 public:
  virtual ~with_virtual_function() = default;
};

}  // namespace

template <>
struct std::tuple_size<three> : std::integral_constant<std::size_t, 3> {};
template <std::size_t I>
struct std::tuple_element<I, three> {
  using type = int;
};
template <class T>
inline constexpr bool cairn::is_container<ring<T>> = true;
template <>
inline constexpr bool cairn::is_container<said_ids> = true;
template <>
inline constexpr bool cairn::is_container<home_map> = true;
template <>
inline constexpr bool cairn::is_container<home_set> = true;
template <>
inline constexpr bool cairn::is_container<home_optional> = true;
template <>
inline constexpr bool cairn::is_container<home_tensor> = true;
template <>
inline constexpr bool cairn::is_container<home_stack> = true;
template <>
inline constexpr bool cairn::is_container<three> = true;

TEST_CASE("an aggregate is a record, whatever its operations: no member is lost") {
  STATIC_REQUIRE(all_are<category::record, stamp, counted_optional, counted_atomic, parameter, plain_list>);
  stamp time{2024, 2, 3, 777}, later;
  tests::kept(time).load(later);
  CHECK(later.seconds == 777);
  parameter weight{{1, 2}, {2, 1}, "weight"}, fresh;
  CHECK(tests::kept(weight).paths() == "dims name values");
  CHECK(tests::comes_back(weight, fresh));
  CHECK(fresh.name == "weight");
}

TEST_CASE("a class of the user is a container if the user says so") {
  STATIC_REQUIRE(all_are<category::sequence, ring<float>, ring<std::string>>);
  STATIC_REQUIRE(all_are<category::map, home_map>);
  STATIC_REQUIRE(all_are<category::set, home_set>);
  STATIC_REQUIRE(all_are<category::optional, home_optional>);
  STATIC_REQUIRE(all_are<category::tensor, home_tensor>);
  STATIC_REQUIRE(all_are<category::container_adaptor, home_stack>);
  STATIC_REQUIRE(all_are<category::tuple, three>);
  struct state {
    ring<float> numbers;
    ring<std::string> names;
    home_map map;
    home_set set;
    home_optional maybe, none;
    home_tensor tensor;
    home_stack stack;
    three tuple;
  };
  state saved{ring<float>({1, 2, 3}), ring<std::string>({"a", "b"}), {}, {}, {}, {}, home_tensor({2, 3}), {}, {}};
  state loaded;
  saved.map["x"] = {"y"};
  saved.set.insert(saved.set.end(), 4);
  saved.maybe.emplace();
  *saved.maybe = 5;
  loaded.none.emplace();
  saved.tensor.data()[4] = 6;
  saved.stack.push(7);
  saved.tuple.get<2>() = 8;
  CHECK(tests::comes_back(saved, loaded));
  CHECK(std::vector<float>(loaded.numbers.begin(), loaded.numbers.end()) == std::vector<float>{1, 2, 3});
  CHECK(loaded.names.size() == 2);
  CHECK(loaded.numbers.uses == 5);  // neither saved nor loaded: docs/types.md
  CHECK(loaded.map["x"] == std::vector<std::string>{"y"});
  CHECK(loaded.set.size() == 1);
  CHECK(*loaded.maybe == 5);
  CHECK_FALSE(loaded.none.has_value());
  CHECK(loaded.tensor.shape() == std::vector<std::size_t>{2, 3});
  CHECK(loaded.tensor.data()[4] == 6);
  CHECK(loaded.stack.top() == 7);
  CHECK(loaded.tuple.get<2>() == 8);
}

TEST_CASE("a sequence of the user takes no more elements than its max_size") {
  for (const std::size_t count : {4U, 5U}) {
    ring<float> list({1, 2});
    const auto load = [&] { tests::kept(std::vector<float>(count, 7)).load(list); };
    if (count > 4) CHECK_THROWS_AS(load(), cairn::error);
    if (count <= 4) CHECK_NOTHROW(load());
    CHECK(list.size() == (count > 4 ? 2 : 4));
  }
}

TEST_CASE("a class derived from one of the standard library is no container until the user says so") {
  STATIC_REQUIRE(all_are<category::unsupported, ids, counted_engine, named_map, with_virtual_function>);
  STATIC_REQUIRE(all_are<category::record, engine, derived_draw>);  // aggregates, refused for their base class
  STATIC_REQUIRE(all_are<category::sequence, said_ids>);
}
