// SPDX-License-Identifier: MIT
#include "cairn/state/random_text.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <ostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"
#include "state/random_types.hpp"

namespace {

const tests::random_type& type(std::string_view name) {
  for (const auto& each : tests::random_types)
    if (each.name == name) return each;
  throw std::logic_error("no such type");
}

std::vector<std::string> numbers_of(const std::string& text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (c == ' ')
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

std::string join(const std::vector<std::string>& numbers) {
  std::string text;
  for (const auto& each : numbers) text += (&each == numbers.data() ? "" : " ") + each;
  return text;
}

/// `text` with number `index` replaced; counted from the end if negative.
std::string with(const std::string& text, std::ptrdiff_t index, const std::string& number) {
  auto all = numbers_of(text);
  all.at(static_cast<std::size_t>(index < 0 ? index + static_cast<std::ptrdiff_t>(all.size()) : index)) = number;
  return join(all);
}

std::string mutated(const std::string& text, std::mt19937_64& random) {
  static const auto hostile = numbers_of(  // also an empty one
      "0 1 2 -1 3 7 100 397 624 625 1e9 1e-9 1000000000 4294967295 4294967296 16777216 0.5 -0.5 1e300 -1e300 1e-300 "
      "5e-324 1e400 inf nan 12 11.9 2e9 2147483647 9223372036854775807 18446744073709551615 18446744073709551616 "
      "00 +1 0x10  \t1 1,000");
  auto all = numbers_of(text);
  const auto any = [&](std::size_t size) { return static_cast<std::size_t>(random() % size); };
  // Parameters are at the beginning, positions at the end.
  const auto place = [&] {
    const std::size_t near = std::min<std::size_t>(all.size(), 8);
    return random() % 3 == 0 ? any(all.size()) : random() % 2 == 0 ? any(near) : all.size() - 1 - any(near);
  };
  for (std::size_t changes = 1 + any(3); changes > 0; --changes) {
    const std::size_t at = place();
    switch (any(5)) {
      case 0:
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
        if (all.empty()) all.emplace_back();
        break;
      case 1:
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), hostile[any(hostile.size())]);
        break;
      case 2:
        if (!all[at].empty()) all[at][any(all[at].size())] = static_cast<char>(random());
        break;
      default:
        all[at] = hostile[any(hostile.size())];
    }
  }
  return join(all);
}

}  // namespace

TEST_CASE("a random engine or distribution reads its own text, and goes on as before") {
  for (const auto& each : tests::random_types) {
    INFO(each.name);
    for (unsigned seed = 1; seed < 40; ++seed) REQUIRE(each.use(each.text(seed * 37)));
  }
}

TEST_CASE("a changed text of an engine or distribution is refused, or its object draws") {
  std::mt19937_64 random(5);
  std::size_t used = 0, refused = 0;
  for (const auto& each : tests::random_types) {
    INFO(each.name);
    for (unsigned i = 0; i < 300; ++i) {
      const std::string text = mutated(each.text(i), random);
      INFO(text);
      REQUIRE_NOTHROW(each.use(text) ? ++used : ++refused);
    }
  }
  CHECK(used > 200);
  CHECK(refused > 2000);
}

TEST_CASE("an engine whose text has an index beyond its words, or a word that is too large, is refused") {
  struct fault {
    const char* name;
    int at;  // from the end if negative
    const char* number;
    const char* possible;
  };
  const fault faults[] = {
      {"minstd_rand0", 0, "0", "1"},
      {"minstd_rand0", 0, "2147483647", "2147483646"},
      {"mt19937", -1, "625", "624"},
      {"mt19937", -1, "1000000000", "0"},
      {"mt19937", 5, "4294967296", "4294967295"},
      {"mt19937_64", -1, "313", "312"},
      {"mt19937_64", 5, "18446744073709551616", "18446744073709551615"},
      {"ranlux24_base", -1, "24", "23"},
      {"ranlux24_base", -1, "1000000000", "0"},
      {"ranlux24_base", -2, "2", "1"},
      {"ranlux24_base", 0, "16777216", "16777215"},
      {"ranlux48_base", -1, "12", "11"},
      {"ranlux24", -1, "24", "23"},
      {"ranlux24", -1, "1000000000", "0"},
      {"ranlux24", -2, "24", "23"},
      {"ranlux48", -1, "12", "11"},
      {"ranlux48", -2, "1000000000", "0"},
      {"knuth_b", -1, "2147483647", "2147483646"},
      {"knuth_b", -1, "0", "1"},
      {"knuth_b", 0, "0", "1"},
      {"knuth_b", 7, "1000000000000", "5"},
      {"independent_bits", -1, "24", "23"},
      {"shuffle_order of mt19937_64", -18, "313", "312"},
  };
  for (const auto& each : faults) {
    INFO(each.name << ", number " << each.at << " is " << each.number);
    const auto& random = type(each.name);
    const std::string text = random.text(1);
    CHECK_FALSE(random.use(with(text, each.at, each.number)));
    CHECK(random.use(with(text, each.at, each.possible)));
  }
}

TEST_CASE("the text of an engine that would draw the same number for ever is refused") {
  const auto words = [](const std::string& word, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += word + ' ';
    return text;
  };
  CHECK_FALSE(type("mt19937").use(words("0", 624) + "624"));
  CHECK_FALSE(
      type("mt19937").use("2147483647 " + words("0", 623) + "624"));  // the last 31 bits of the first word are not used
  CHECK(type("mt19937").use("2147483648 " + words("0", 623) + "624"));
  CHECK_FALSE(type("ranlux24_base").use(words("0", 24) + "0 0"));
  CHECK(type("ranlux24_base").use(words("0", 24) + "1 0"));
  CHECK_FALSE(type("ranlux24_base").use(words("16777215", 24) + "1 0"));
  CHECK(type("ranlux24_base").use(words("16777215", 24) + "0 0"));
}

TEST_CASE("the text of a distribution whose draws are undefined or do not end is refused") {
  struct fault {
    const char* name;
    int at;
    const char* number;
  };
  const fault faults[] = {
      {"uniform_int short", 1, "-1"},
      {"uniform_real float", 1, "-1.00000000e+00"},
      {"bernoulli", 0, "1.50000000000000000e+00"},
      {"bernoulli", 0, "-5.00000000000000000e-01"},
      {"binomial", 1, "2.00000000000000000e+00"},
      {"binomial", 0, "-1"},
      {"binomial", 0, "2147483647"},  // the standard library multiplies it by 32
      {"binomial long", 0, "9000000000000000"},
      {"binomial", 3, "0.00000000000000000e+00"},  // the deviation of the normal distribution that it draws from
      {"negative_binomial", 1, "0.00000000000000000e+00"},
      {"negative_binomial", 1, "1.00000000000000003e-300"},
      {"negative_binomial", 3, "1.00000000000000005e+300"},  // the scale of the gamma distribution that it draws from
      {"negative_binomial", 3, "-1.00000000000000000e+00"},
      {"negative_binomial", 3, "1.00000000000000003e-300"},
      {"negative_binomial", 2, "5.00000000000000000e-01"},
      {"negative_binomial", 2, "-1.00000000000000000e+00"},
      {"geometric", 0, "0.00000000000000000e+00"},
      {"geometric", 0, "1.00000000000000003e-300"},
      {"poisson", 0, "1.00000000000000005e+300"},
      {"poisson", 0, "-1.00000000000000000e+00"},
      {"poisson long", 0, "1.00000000000000000e+19"},
      {"exponential", 0, "-1.00000000000000000e+00"},
      {"gamma", 0, "-1.00000000000000000e+00"},
      {"gamma", 2, "-1.00000000000000005e+300"},
      {"normal", 1, "-1.00000000000000000e+00"},
      {"normal", 0, "inf"},
      {"normal", 0, "nan"},
      {"normal", 2, "2"},
      {"chi_squared", 0, "-1.00000000000000000e+00"},
      {"fisher_f", 1, "-1.00000000000000000e+00"},
      {"student_t", 0, "-1.00000000000000000e+00"},
      {"discrete", 0, "1000000000000"},
      {"discrete", 0, "-1"},
  };
  for (const auto& each : faults) {
    INFO(each.name << ", number " << each.at << " is " << each.number);
    const std::string text = type(each.name).text(0);
    REQUIRE(type(each.name).use(text));
    REQUIRE(with(text, each.at, each.number) != text);
    CHECK_FALSE(type(each.name).use(with(text, each.at, each.number)));
  }
  CHECK_FALSE(type("discrete").use("1000000000000 1 1 1 1"));
  CHECK_FALSE(type("discrete").use("18446744073709551615 1"));
  CHECK_FALSE(type("discrete").use("2 0 0"));
  CHECK_FALSE(type("discrete").use("2 1e308 1e308"));
  CHECK_FALSE(type("discrete").use("2 0.5 0.5 0.5"));
  CHECK_FALSE(type("normal").use("0.00000000000000000e+00 1.00000000000000000e+00 1 1.00000000000000005e+300"));
  CHECK_FALSE(type("normal").use("0.00000000000000000e+00 1.00000000000000000e+00 0 "));
}

namespace {

template <class Distribution>
void check_extreme(Distribution original) {
  Distribution fresh;
  REQUIRE(tests::comes_back(original, fresh));
  CHECK(fresh == original);
  CHECK_NOTHROW(tests::draw(fresh));
}

template <class Distribution>
void check_refused(const Distribution& original) {
  struct {
    Distribution draw;
  } state{original};
  try {
    (void)cairn::detail::describe(state);
    FAIL("saved");
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::invalid);
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("cairn: draw: this "));
  }
}

}  // namespace

TEST_CASE("distributions with the largest and smallest parameters come back and draw") {
  check_extreme(std::poisson_distribution<>(2147483647.0));
  check_extreme(std::poisson_distribution<>(1e-300));
  check_extreme(std::poisson_distribution<long>(1e18));
  check_extreme(std::geometric_distribution<>(1e-9));
  check_extreme(std::binomial_distribution<long>(4'000'000'000'000'000, 0.3));
  check_extreme(std::binomial_distribution<>(67'108'863, 0.5));
  check_extreme(std::binomial_distribution<>(2147483647, 1e-9));
  check_extreme(std::negative_binomial_distribution<>(3, 1e-7));
  check_extreme(std::gamma_distribution<>(1e300, 1e-300));
  check_extreme(std::gamma_distribution<>(1e-300, 1e300));
  check_extreme(std::gamma_distribution<float>(1e38F, 1));
  check_extreme(std::uniform_int_distribution<std::uint64_t>(0, ~std::uint64_t{0}));
}

TEST_CASE("a distribution that cannot be read back is refused when it is saved") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  check_refused(std::normal_distribution<>(infinity, 1));
  check_refused(std::uniform_real_distribution<>(0, infinity));
  check_refused(std::exponential_distribution<>(infinity));
  check_refused(std::poisson_distribution<>(1e300));
  check_refused(std::geometric_distribution<>(1e-300));
  check_refused(std::normal_distribution<long double>(0.1L, 1));  // libstdc++ reads it as a double
}

TEST_CASE("discrete distributions come back bit for bit") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<> uniform;
  for (const std::size_t size : {0U, 1U, 2U, 3U, 5U, 10U, 33U, 100U, 1000U, 20000U}) {
    for (int i = 0; i < (size > 1000 ? 2 : 20); ++i) {
      std::vector<double> weights(size);
      for (auto& each : weights) each = i % 2 == 0 ? uniform(random) : std::exp(40 * uniform(random));
      if (size > 2 && i % 3 == 0) weights[size / 2] = 0;
      const std::discrete_distribution<> original(weights.begin(), weights.end());
      std::discrete_distribution<> fresh;
      REQUIRE(tests::comes_back(original, fresh));
      REQUIRE(fresh.probabilities() == original.probabilities());
    }
  }
}

TEST_CASE("the text of a discrete distribution of an earlier version is read") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<> uniform;
  for (int i = 0; i < 20; ++i) {
    std::vector<double> weights(20);
    for (auto& each : weights) each = uniform(random);
    const std::discrete_distribution<> original(weights.begin(), weights.end());
    std::ostringstream text;
    text << original;
    std::discrete_distribution<> fresh;
    cairn::detail::copy_traits<std::discrete_distribution<>>::put(fresh, text.str());
    for (std::size_t k = 0; k < 20; ++k)
      CHECK(std::abs(fresh.probabilities()[k] - original.probabilities()[k]) < 1e-15);
  }
}

namespace {

/// An engine of a user, with a text of its own. `broken`: the text leaves out a number.
template <bool Broken>
class counter {
 public:
  using result_type = unsigned;
  static constexpr unsigned min() { return 0; }
  static constexpr unsigned max() { return 999; }
  void seed(unsigned value = 0) { at_ = value; }
  void discard(unsigned long long steps) {
    while (steps-- > 0) (*this)();
  }
  unsigned operator()() { return at_ = (at_ * 7 + ++calls_) % 1000; }

  friend bool operator==(const counter&, const counter&) = default;
  friend std::ostream& operator<<(std::ostream& to, const counter& from) {
    to << "<" << from.at_;
    if (!Broken) to << "," << from.calls_;
    return to << ">";
  }
  friend std::istream& operator>>(std::istream& from, counter& to) {
    char mark = 0;
    from >> mark >> to.at_ >> mark;
    if (!Broken) from >> to.calls_ >> mark;
    return from;
  }

 private:
  unsigned at_ = 3, calls_ = 0;
};

}  // namespace

template <bool Broken>
inline constexpr bool cairn::is_container<counter<Broken>> = true;

TEST_CASE("an engine of a user comes back if its text does") {
  counter<false> original, fresh;
  original.discard(5);
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh == original);
  using traits = cairn::detail::copy_traits<counter<false>>;
  CHECK_THROWS_WITH(traits::put(fresh, "<5,6,"),
                    Catch::Matchers::ContainsSubstring("is not that of this random engine"));
  CHECK_THROWS_WITH(traits::put(fresh, "<5,6> and more"),
                    Catch::Matchers::ContainsSubstring("is not that of this random engine"));
  CHECK(fresh == original);

  counter<true> broken;
  broken.discard(5);
  CHECK_THROWS_WITH(cairn::detail::describe(broken), Catch::Matchers::ContainsSubstring("does not read back"));
}

TEST_CASE("a standard engine on an engine of a user is checked as far as its own numbers go") {
  std::shuffle_order_engine<counter<false>, 4> original, fresh;
  for (int i = 0; i < 10; ++i) (void)original();
  REQUIRE(tests::comes_back(original, fresh));
  CHECK(fresh == original);
  using traits = cairn::detail::copy_traits<decltype(original)>;
  const std::string text = traits::take(original);
  CHECK_NOTHROW(traits::put(fresh, with(text, -1, "999")));
  CHECK_THROWS_WITH(traits::put(fresh, with(text, -1, "1000")),
                    Catch::Matchers::ContainsSubstring("is not that of this random engine"));
  CHECK_THROWS_WITH(traits::put(fresh, with(text, -4, "1000")),
                    Catch::Matchers::ContainsSubstring("is not that of this random engine"));
}
