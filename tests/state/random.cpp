// SPDX-License-Identifier: MIT
#include "cairn/state/random.hpp"

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <istream>
#include <limits>
#include <ostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"
#include "state/random_types.hpp"
#include "state/refuses.hpp"
#include "store/sample.hpp"

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

TEST_CASE("the rounding mode of the program does not change what is saved or loaded") {
  const std::normal_distribution<double> saved(0.1, 0.3);
  const tests::kept kept(cairn::detail::describe(saved));
  const int mode = GENERATE(FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO);
  std::fesetround(mode);
  std::normal_distribution<double> loaded;
  const auto failure = sample::failure_of([&] {
    kept.load(loaded);
    static_cast<void>(cairn::detail::describe(saved));
  });
  CHECK(std::fegetround() == mode);
  std::fesetround(FE_TONEAREST);
  CHECK(failure.sentence.empty());
  CHECK(loaded == saved);
}

TEST_CASE("a changed text of an engine or distribution is refused, or an engine draws") {
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
      {"twister of 4 bytes", -1, "625", "624"},
      {"padded twister", -1, "352", "351"},
      {"padded subtract_with_carry", -1, "24", "23"},
      {"padded shuffle_order", -1, "16777216", "16777215"},
      {"padded shuffle_order", -10, "24", "23"},
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

TEST_CASE("a text that its distribution cannot read, or would write in another way, is refused") {
  struct fault {
    const char* name;
    int at;
    const char* number;
  };
  const fault faults[] = {
      {"uniform_int short", 1, "1000000"},
      {"uniform_int short", 0, "00"},
      {"bernoulli", 0, "0.5"},
      {"normal", 0, "inf"},
      {"normal", 0, "nan"},
      {"normal", 0, "1e400"},
      {"normal", 2, "2"},
      {"poisson", 0, "x"},
      {"discrete", 0, "1000000000000"},
      {"discrete", 0, "18446744073709551615"},
      {"discrete", 0, "-1"},
  };
  for (const auto& each : faults) {
    INFO(each.name << ", number " << each.at << " is " << each.number);
    const std::string text = type(each.name).text(0);
    REQUIRE(type(each.name).use(text));
    CHECK_FALSE(type(each.name).use(with(text, each.at, each.number)));
  }
  CHECK_FALSE(type("discrete").use("2 0.5 0.5 0.5"));
  CHECK_FALSE(type("normal").use("0.00000000000000000e+00 1.00000000000000000e+00 0 "));
}

namespace {

/// errc::invalid.
template <class Object>
void check_refused(const Object& original) {
  struct {
    Object draw;
  } state{original};
  try {
    (void)cairn::detail::describe(state);
    FAIL("saved");
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::invalid);
    CHECK_THAT(error.what(),
               Catch::Matchers::ContainsSubstring("cairn: draw: this random engine or distribution cannot be saved") &&
                   Catch::Matchers::ContainsSubstring("save the parameters that you make it from"));
  }
}

}  // namespace

TEST_CASE("a distribution that cannot be read back is refused when it is saved") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  check_refused(std::normal_distribution<>(infinity, 1));
  check_refused(std::uniform_real_distribution<>(0, infinity));
  check_refused(std::exponential_distribution<>(infinity));
  check_refused(std::normal_distribution<long double>(0.1L, 1));  // libstdc++ reads it as a double
}

TEST_CASE("a discrete distribution comes back bit for bit, or is refused as its sum is not 1 when it is read") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<> uniform;
  int saved = 0, refused = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<double> weights(10);
    for (auto& each : weights) each = uniform(random);
    const std::discrete_distribution<> original(weights.begin(), weights.end());
    std::ostringstream text;
    text.precision(17);
    text << original;
    std::discrete_distribution<> read;
    std::istringstream(text.str()) >> read;
    if (read != original) {
      check_refused(original);
      ++refused;
      continue;
    }
    std::discrete_distribution<> fresh;
    REQUIRE(tests::comes_back(original, fresh));
    REQUIRE(fresh.probabilities() == original.probabilities());
    ++saved;
  }
  CHECK(saved > 0);
  CHECK(refused > 0);
}

#if defined(__GLIBCXX__)
namespace {

template <class Engine>
void check_words() {
  STATIC_REQUIRE(sizeof(typename Engine::result_type) == 8);
  for (unsigned seed = 1; seed < 3000; seed += 7) {
    Engine engine;
    engine.seed(seed);
    engine.discard(seed);
    std::ostringstream text;
    text << engine;
    REQUIRE(tests::as_text(cairn::detail::copy_traits<Engine>::take(engine)) == text.str());
  }
}

/// The members of a 4-byte engine: `words` numbers, then a position of 8 bytes.
template <class Engine>
void check_short_words(std::size_t words) {
  Engine engine(7);
  engine.discard(1001);
  const auto stored = cairn::detail::copy_traits<Engine>::take(engine);
  std::vector<std::uint32_t> numbers(words);
  REQUIRE(sizeof stored == 4 * words + 8);
  std::memcpy(numbers.data(), stored.data(), 4 * words);
  std::ostringstream text, wanted;
  for (const auto each : numbers) text << each << ' ';
  text << stored.back();
  wanted << engine;
  CHECK(text.str() == wanted.str());
}

using long_twister = std::mersenne_twister_engine<std::uint64_t, 40, 20, 7, 13, 0xb5026f5aa9ULL, 29, 0x5555555555ULL,
                                                  17, 0x71d67fffedULL, 37, 0xfff7eee000ULL, 39, 6364136223ULL>;

}  // namespace

TEST_CASE("the words of an engine of libstdc++ are the numbers that it streams") {
  check_words<std::minstd_rand0>();
  check_words<std::minstd_rand>();
  check_words<std::mt19937>();
  check_words<std::mt19937_64>();
  check_words<std::ranlux24_base>();
  check_words<std::ranlux48_base>();
  check_words<std::ranlux24>();
  check_words<std::ranlux48>();
  check_words<std::knuth_b>();
  check_words<std::linear_congruential_engine<std::uint64_t, 6364136223846793005U, 1442695040888963407U, 0>>();
  check_words<long_twister>();
  check_words<std::subtract_with_carry_engine<std::uint64_t, 40, 3, 9>>();
  check_words<std::discard_block_engine<long_twister, 30, 11>>();
  check_words<std::independent_bits_engine<std::ranlux24, 40, std::uint64_t>>();
  check_words<std::shuffle_order_engine<std::discard_block_engine<std::mt19937_64, 5, 2>, 16>>();
  check_short_words<tests::short_twister>(624);
  check_short_words<std::subtract_with_carry_engine<std::uint32_t, 24, 10, 23>>(24);
}

namespace {

struct particle {
  std::mt19937 random{};
  float place = 0;
  friend bool operator==(const particle&, const particle&) = default;
};
struct environment {
  std::vector<float> observed{};
  std::ranlux24 random{};
  friend bool operator==(const environment&, const environment&) = default;
};

void check_leaf(const tests::kept& kept, const std::string& path, const cairn::extents& shape) {
  INFO(kept.paths());
  for (const auto& each : kept.contents.leaves)
    if (each.path == path) {
      CHECK(each.type == cairn::dtype::u64);
      CHECK(each.shape == shape);
      return;
    }
  FAIL_CHECK(path);
}

/// Gives word `at` of all bytes of a leaf another value.
void set_word(tests::kept& kept, const std::string& path, std::size_t at, std::uint64_t value) {
  std::memcpy(kept.bytes.at(path).data() + 8 * at, &value, sizeof value);
}

}  // namespace

TEST_CASE("many engines are one array of words, also those in objects") {
  std::vector<std::mt19937> engines;
  for (unsigned i = 0; i < 300; ++i) engines.emplace_back(i).discard(i);
  std::vector<std::mt19937> fresh(2);
  REQUIRE(tests::comes_back(engines, fresh));
  CHECK(fresh == engines);
  const tests::kept kept(cairn::detail::describe(engines));
  CHECK(kept.paths() == "value");
  check_leaf(kept, "value", {300, 625});

  std::vector<particle> particles(300), fresh_particles;
  for (std::size_t i = 0; i < 300; ++i) particles[i].random = engines[i];
  REQUIRE(tests::comes_back(particles, fresh_particles));
  CHECK(fresh_particles == particles);
  check_leaf(tests::kept(cairn::detail::describe(particles)), "random", {300, 625});

  std::vector<environment> environments(300), fresh_environments;
  for (unsigned i = 0; i < 300; ++i) environments[i] = {std::vector<float>(i % 5), std::ranlux24(i)};
  REQUIRE(tests::comes_back(environments, fresh_environments));
  CHECK(fresh_environments == environments);
  check_leaf(tests::kept(cairn::detail::describe(environments)), "random", {300, 27});
}

TEST_CASE("one wrong word among those of many engines is found before one of them changes") {
  const std::string said = "is not that of this random engine or distribution";
  const std::vector<std::mt19937> engines(300);
  tests::kept kept(cairn::detail::describe(engines));
  set_word(kept, "value", 625 * 123 + 624, 625);
  std::vector<std::mt19937> fresh{std::mt19937(3)};
  const auto before = fresh;
  tests::refuses(kept, fresh, cairn::errc::mismatch, said);
  CHECK(fresh == before);

  const std::vector<environment> environments(300);
  tests::kept joined(cairn::detail::describe(environments));
  set_word(joined, "random", 27 * 299 + 25, 24);
  std::vector<environment> fresh_environments(300);
  for (auto& each : fresh_environments) each.random.seed(5);
  const auto environments_before = fresh_environments;
  tests::refuses(joined, fresh_environments, cairn::errc::mismatch, said);
  CHECK(fresh_environments == environments_before);
}
#endif

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

#if defined(__GLIBCXX__)
TEST_CASE("an engine that draws one number for ever is not saved") {
  std::mt19937 dead;
  std::memset(static_cast<void*>(&dead), 0, sizeof dead);
  CHECK_THROWS_WITH(cairn::detail::describe(dead), ContainsSubstring("value: this random engine cannot be saved"));
}
#endif

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
  STATIC_REQUIRE(std::is_same_v<traits::type, std::string>);
}
