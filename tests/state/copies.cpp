// SPDX-License-Identifier: MIT
#include "cairn/state/copies.hpp"

#include "catch.hpp"
#include "state/refuses.hpp"

namespace {

/// Saves an engine or distribution in the middle of its life, and goes on with both.
template <class Engine>
void check_engine() {
  Engine original(12345);
  for (int i = 0; i < 700; ++i) (void)original();
  Engine fresh;
  REQUIRE(tests::comes_back(original, fresh));
  CHECK(fresh == original);
  for (int i = 0; i < 1000; ++i) REQUIRE(fresh() == original());
}

template <class Distribution>
void check_distribution(Distribution original) {
  std::mt19937_64 a(7);
  for (int i = 0; i < 101; ++i) (void)original(a);  // an odd number: some keep half of a pair
  std::mt19937_64 b = a;
  Distribution fresh;
  REQUIRE(tests::comes_back(original, fresh));
  for (int i = 0; i < 200; ++i) REQUIRE(fresh(b) == original(a));
}

}  // namespace

TEST_CASE("every random engine goes on where it was") {
  check_engine<std::minstd_rand0>();
  check_engine<std::minstd_rand>();
  check_engine<std::mt19937>();
  check_engine<std::mt19937_64>();
  check_engine<std::ranlux24_base>();
  check_engine<std::ranlux48_base>();
  check_engine<std::ranlux24>();
  check_engine<std::ranlux48>();
  check_engine<std::knuth_b>();
  check_engine<std::independent_bits_engine<std::mt19937, 40, std::uint64_t>>();
}

TEST_CASE("every distribution that can be read back exactly goes on bit for bit") {
  check_distribution(std::uniform_int_distribution<>(-3, 1000));
  check_distribution(std::uniform_real_distribution<>(0.1, 0.7));
  check_distribution(std::bernoulli_distribution(0.3));
  check_distribution(std::binomial_distribution<>(20, 0.3));
  check_distribution(std::negative_binomial_distribution<>(5, 0.3));
  check_distribution(std::geometric_distribution<>(0.3));
  check_distribution(std::poisson_distribution<>(4.1));
  check_distribution(std::exponential_distribution<>(1.1));
  check_distribution(std::gamma_distribution<>(2.1, 0.3));
  check_distribution(std::weibull_distribution<>(2.1, 0.3));
  check_distribution(std::extreme_value_distribution<>(0.1, 0.3));
  check_distribution(std::normal_distribution<>(0.1, 0.3));
  check_distribution(std::normal_distribution<float>(0.1F, 0.3F));
  check_distribution(std::lognormal_distribution<>(0.1, 0.3));
  check_distribution(std::chi_squared_distribution<>(2.1));
  check_distribution(std::cauchy_distribution<>(0.1, 0.3));
  check_distribution(std::fisher_f_distribution<>(2.1, 3.3));
  check_distribution(std::student_t_distribution<>(3.3));
  check_distribution(std::discrete_distribution<>{1.0, 2.0, 4.0, 1.0});
}

TEST_CASE("values without memory of their own come back") {
  struct state {
    std::filesystem::path path;
    std::atomic<int> hits{0};
    std::bitset<70> mask;
    std::chrono::system_clock::time_point at{};
  };
  state original;
  original.path = "runs/a b";
  original.hits = 7;
  original.mask[69] = original.mask[0] = true;
  original.at = std::chrono::system_clock::time_point(std::chrono::system_clock::duration(123456789));
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.path == original.path);
  CHECK(fresh.hits == 7);
  CHECK(fresh.mask == original.mask);
  CHECK(fresh.at == original.at);
}

TEST_CASE("numbers of long double come back") {
  struct state {
    long double x = 0;
    std::vector<long double> list;
  };
  const state original{.x = 1 / 3.0L, .list = {1e-20L + 1, -2 / 7.0L}};
  state fresh;
  REQUIRE(tests::comes_back(original, fresh));
  CHECK(fresh.x == original.x);
  CHECK(fresh.list == original.list);
}

TEST_CASE("a bitset of another size does not fit") {
  std::bitset<3> fresh(5);
  tests::refuses(
      cairn::detail::describe(std::bitset<4>(9)), fresh, cairn::errc::mismatch,
      "has 4 bits in the checkpoint and 3 in the state; make it a bitset of that size, or leave it out with filter");
  CHECK(fresh == std::bitset<3>(5));
}

TEST_CASE("a text of another distribution, or of none, does not fit, and the distribution keeps its state") {
  const auto check = [](const auto& stored, auto fresh) {
    const auto before = fresh;
    tests::refuses(cairn::detail::describe(stored), fresh, cairn::errc::mismatch,
                   "value in kept: has a value in the checkpoint that is not that of this random engine or "
                   "distribution: make it the type that was saved, or leave it out with filter");
    CHECK(fresh == before);
  };
  check(std::string("not a distribution"), std::normal_distribution<>(3, 1));
  check(std::exponential_distribution<double>(2), std::normal_distribution<double>(0.5, 1));
}

TEST_CASE("a bool that is neither 0 nor 1 is corrupt") {
  struct row {
    bool flag;
    int id;
  };
  const std::vector<row> original{{true, 1}, {false, 2}};
  tests::kept kept(original);
  kept.bytes.at("flag")[1] = std::byte{2};
  std::vector<row> fresh;
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("flag in kept is BOOL"));
  CHECK(fresh.empty());
}

#if defined(__SIZEOF_FLOAT128__)
TEST_CASE("of wide scalars only a long double has padding") {
  __extension__ using quad = __float128;
  STATIC_REQUIRE(cairn::detail::value_bytes<quad> == sizeof(quad));
  STATIC_REQUIRE(cairn::detail::value_bytes<unsigned long long> == sizeof(unsigned long long));
  CHECK(cairn::detail::value_bytes<long double> ==
        (std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double)));
}
#endif

namespace {

struct run_folder : std::filesystem::path {};

}  // namespace

template <>
inline constexpr bool cairn::is_container<run_folder> = true;

TEST_CASE("a class derived from a path comes back") {
  std::vector<run_folder> original(1), loaded;
  original[0].assign("runs/a b");
  tests::kept(original).load(loaded);
  REQUIRE(loaded.size() == 1);
  CHECK(loaded[0] == original[0]);
}
