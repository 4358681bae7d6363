// SPDX-License-Identifier: MIT
#include "cairn/state/category.hpp"

#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <valarray>
#include <variant>
#include <vector>

#include "cairn/state/tensor_view.hpp"
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
struct with_virtual {
  virtual ~with_virtual() = default;
};

}  // namespace

TEST_CASE("every type is in exactly the category that it belongs to") {
  STATIC_REQUIRE(
      all_are<category::scalar, bool, char, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t, short,
              unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long, float, double, plain,
              scoped, std::byte, cairn::float16, cairn::bfloat16, cairn::float8_e4m3, cairn::float8_e5m2>);
  STATIC_REQUIRE(all_are<category::wide_scalar, long double, std::chrono::duration<long double>>);
  STATIC_REQUIRE(all_are<category::wide_complex, std::complex<long double>>);
  STATIC_REQUIRE(all_are<category::skipped, cairn::skip<int>>);
  STATIC_REQUIRE(all_are<category::references, cairn::state, cairn::const_state>);
  STATIC_REQUIRE(all_are<category::complex, std::complex<float>, std::complex<double>>);
  STATIC_REQUIRE(all_are<category::duration, std::chrono::seconds, std::chrono::duration<double>,
                         std::chrono::system_clock::time_point, std::chrono::sys_days>);
  STATIC_REQUIRE(all_are<category::calendar, std::chrono::year_month_day, std::chrono::year, std::chrono::month,
                         std::chrono::day, std::chrono::weekday, std::chrono::year_month, std::chrono::month_day>);
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
                         std::discrete_distribution<>, std::bernoulli_distribution>);
  STATIC_REQUIRE(all_are<category::unsupported, int*, void (*)(), with_virtual, std::string_view, std::random_device,
                         std::chrono::year_month_day_last>);
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

namespace {

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

}  // namespace

template <>
struct std::tuple_size<three> : std::integral_constant<std::size_t, 3> {};
template <std::size_t I>
struct std::tuple_element<I, three> {
  using type = int;
};

TEST_CASE("an aggregate is a record, whatever its operations") {
  STATIC_REQUIRE(all_are<category::record, stamp, counted_optional, counted_atomic>);
  STATIC_REQUIRE(all_are<category::tuple, three>);
  stamp time{2024, 2, 3, 777}, later;
  tests::kept(cairn::detail::describe(time)).load(later);
  CHECK(later.seconds == 777);
  three saved, loaded;
  saved.get<2>() = 5;
  tests::kept(cairn::detail::describe(saved)).load(loaded);
  CHECK(loaded.get<2>() == 5);
}
