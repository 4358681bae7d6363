// SPDX-License-Identifier: MIT
// The containers of Boost, which need no adapter.
#include <boost/circular_buffer.hpp>
#include <boost/container/deque.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/list.hpp>
#include <boost/container/map.hpp>
#include <boost/container/set.hpp>
#include <boost/container/slist.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/container/stable_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <boost/container/string.hpp>
#include <boost/container/vector.hpp>
#include <boost/optional.hpp>
#include <boost/random/lagged_fibonacci.hpp>
#include <boost/random/linear_congruential.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/ranlux.hpp>
#include <boost/random/taus88.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>

#include "containers.hpp"

namespace {

namespace bc = boost::container;
using floats = std::vector<float>;

using sequences =
    std::tuple<bc::vector<float>, bc::vector<bool>, bc::vector<floats>, bc::small_vector<double, 4>,
               bc::small_vector<std::string, 2>, bc::static_vector<float, 16>, bc::static_vector<floats, 16>,
               bc::stable_vector<float>, bc::stable_vector<floats>, bc::deque<float>, bc::list<std::string>,
               bc::list<floats>, bc::slist<int>, boost::circular_buffer<float>, boost::circular_buffer<floats>>;
using associative =
    std::tuple<bc::set<int>, bc::flat_set<std::string>, bc::map<std::string, float>, bc::map<int, floats>,
               bc::flat_map<int, float>, bc::flat_map<std::string, floats>, boost::unordered_set<int>,
               boost::unordered_map<std::string, floats>, boost::unordered_map<int, double>,
               boost::unordered_flat_map<std::string, floats>, boost::unordered_flat_map<int, float>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("boost: sequences", "", sequences) { tests::check_container<TestType>(); }

TEMPLATE_LIST_TEST_CASE("boost: sets and maps", "", associative) { tests::check_container<TestType>(); }

TEST_CASE("boost: optionals and strings") {
  struct state {
    boost::optional<float> number;
    boost::optional<std::vector<std::string>> words;
    bc::string text;
  } original{1.5F, std::vector<std::string>{"a", "bc"}, "text"}, fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK((fresh.number == 1.5F));
  REQUIRE(fresh.words.has_value());
  CHECK(fresh.words->size() == 2);
  CHECK(fresh.text == "text");
  CHECK(tests::comes_back(state{}, fresh));
  CHECK_FALSE(fresh.words.has_value());
}

TEST_CASE("boost: a circular buffer keeps its capacity, if the stored elements fit in it") {
  const auto wrapped = [](std::size_t capacity, int count) {
    boost::circular_buffer<int> made(capacity);
    for (int i = 0; i < count; ++i) made.push_back(i);
    return made;
  };
  const auto original = wrapped(5, 13);  // the first element is not the first one in memory
  for (const std::size_t capacity : {std::size_t{5}, std::size_t{9}, std::size_t{2}, std::size_t{0}})
    for (const int before : {0, 1, 7}) {
      CAPTURE(capacity, before);
      auto into = wrapped(capacity, before);
      CHECK(tests::comes_back(original, into));
      CHECK(into == original);
      CHECK(into.capacity() == std::max(capacity, original.size()));
      const auto empty = wrapped(7, 0);
      CHECK(tests::comes_back(empty, into));
      CHECK(into.empty());
      CHECK(into.capacity() == std::max(capacity, original.size()));
    }
}

TEST_CASE("a view of an element that Boost's containers move is refused") {
  struct layer {
    std::array<float, 4> bias{};
    std::vector<float> weight;
  };
  struct state {
    boost::container::flat_map<std::string, layer> layers;
    boost::circular_buffer<layer> ring{1};
    std::span<float> view;
  };
  state saved;
  for (int i = 0; i < 20; ++i) saved.layers["k" + std::to_string(i)].weight = {1};
  saved.ring.set_capacity(5);
  saved.ring.resize(5);
  saved.view = saved.layers["k3"].bias;
  const tests::kept kept(saved);
  state into;
  into.ring.resize(1);
  into.view = into.layers["k3"].bias;
  CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("view refers to elements of layers"));
  into.view = into.ring[0].bias;
  CHECK_THROWS_WITH(kept.load(into), ContainsSubstring("view refers to elements of ring"));
}

TEMPLATE_TEST_CASE("boost: random engines and distributions go on where they were", "", boost::random::mt19937,
                   boost::random::mt11213b, boost::random::mt19937_64, boost::random::taus88, boost::random::ranlux24,
                   boost::random::rand48, boost::random::lagged_fibonacci607) {
  TestType original(5), fresh;
  boost::random::normal_distribution<double> normal(3, 2), fresh_normal;
  for (int i = 0; i < 7; ++i) (void)normal(original);
  CHECK(tests::comes_back(original, fresh));
  CHECK(tests::comes_back(normal, fresh_normal));
  for (int i = 0; i < 100; ++i) CHECK(normal(original) == fresh_normal(fresh));
}
