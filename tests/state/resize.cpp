#include "cairn/state/resize.hpp"

#include <atomic>
#include <deque>
#include <forward_list>
#include <list>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace {

/// Numbers without a default constructor.
struct number {
  int value;
  explicit number(int v) : value(v) {}
};
struct holder {
  std::string text;
  explicit holder(std::string t) : text(std::move(t)) {}
};

/// Resizes to 0 to 4 elements in turn; returns whether each size was reached.
template <class T>
bool reaches_all(T& object) {
  for (const std::uint64_t size : {3U, 1U, 4U, 0U, 2U}) {
    cairn::detail::resize_to(object, size);
    if (static_cast<std::uint64_t>(std::distance(object.begin(), object.end())) != size) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("sequences take any size where their elements can be made") {
  std::vector<std::string> strings;
  std::vector<std::atomic<int>> atomics(2);
  std::deque<std::atomic<int>> deque(2);
  std::list<std::atomic<int>> list(2);
  std::forward_list<std::atomic<int>> forward(2);
  std::vector<number> numbers;
  CHECK(reaches_all(strings));
  CHECK(reaches_all(atomics));
  CHECK(reaches_all(deque));
  CHECK(reaches_all(list));
  CHECK(reaches_all(forward));
  CHECK(reaches_all(numbers));
}

TEST_CASE("a sequence keeps its allocator, even if its elements cannot be moved") {
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<std::atomic<int>> atomics(1, &memory);
  std::pmr::vector<std::pmr::string> strings(1, &memory);
  cairn::detail::resize_to(atomics, 3);
  cairn::detail::resize_to(strings, 3);
  CHECK(atomics.get_allocator().resource() == &memory);
  CHECK(strings.get_allocator().resource() == &memory);
  CHECK(strings.back().get_allocator().resource() == &memory);
}

TEST_CASE("elements that cannot be made can only be removed") {
  std::vector<holder> all{holder("a"), holder("b")};
  CHECK(cairn::detail::limits_of(all, 2).most == 2);
  cairn::detail::resize_to(all, 1);
  REQUIRE(all.size() == 1);
  CHECK(all[0].text == "a");
  std::forward_list<holder> forward;
  CHECK(cairn::detail::limits_of(forward, 0).most == 0);
  CHECK(cairn::detail::limits_of(std::vector<float>(), 0).most == std::vector<float>().max_size());
}
