// SPDX-License-Identifier: MIT
#include "cairn/state/walk_object.hpp"

#include <memory>
#include <vector>

#include "cairn/state/describe.hpp"
#include "catch.hpp"

namespace {

struct counted {
  explicit counted(int& alive) : alive_(&alive) { ++alive; }
  counted(const counted& other) : alive_(other.alive_) { ++*alive_; }
  counted& operator=(const counted&) = default;
  ~counted() { --*alive_; }

 private:
  int* alive_;
};

int alive = 0;

struct made : counted {
  made() : counted(alive) {}
};

}  // namespace

template <>
struct cairn::adapter<counted> {
  static int get(const counted&) { return 0; }
  static void set(counted&, int) {}
};
template <>
struct cairn::adapter<made> : cairn::adapter<counted> {
  static int get(const made&) { return 0; }
  static void set(made&, int) {}
};

TEST_CASE("the operations of a type make and destroy its objects, where it has a default constructor") {
  constexpr auto how = cairn::detail::object_operations_of<made>;
  void* const object = how.make();
  CHECK(alive == 1);
  how.destroy(object);
  CHECK(alive == 0);
  CHECK(cairn::detail::object_operations_of<counted>.make == nullptr);
}

TEST_CASE("a content that has an entry is known") {
  CHECK(cairn::detail::content_operations_of<std::unique_ptr<int>>.has_entry);
  CHECK_FALSE(cairn::detail::content_operations_of<std::vector<int>>.has_entry);
}
