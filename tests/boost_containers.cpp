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
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>
#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

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
