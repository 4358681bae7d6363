// SPDX-License-Identifier: MIT
#include "cairn/state/own_operations.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cairn/state/category.hpp"
#include "cairn/state/derived.hpp"
#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

namespace {

using cairn::detail::category;
using cairn::detail::category_of;

using sizes = std::vector<std::size_t>;

/// The operations of a tensor, on members that the aggregate has.
#define TENSOR_OPERATIONS                                              \
  [[nodiscard]] float* data() { return values.data(); }                \
  [[nodiscard]] const sizes& shape() const { return dims; }            \
  void resize(const cairn::extents& to) {                              \
    dims.assign(to.begin(), to.end());                                 \
    values.resize(static_cast<std::size_t>(cairn::element_count(to))); \
  }

struct plain_tensor {
  std::vector<float> values;
  sizes dims{0};
  TENSOR_OPERATIONS
};
struct strided_tensor {
  std::vector<float> values;
  sizes dims{0};
  std::array<std::ptrdiff_t, 1> steps{1};
  TENSOR_OPERATIONS
  [[nodiscard]] const std::array<std::ptrdiff_t, 1>& strides() const { return steps; }
};
struct parameter {
  std::vector<float> values;
  sizes dims{0};
  std::string name;
  bool grad = false;
  TENSOR_OPERATIONS
};
/// The shape is computed, so the second vector is something else.
struct labelled_tensor {
  std::vector<float> values;
  sizes labels;
  [[nodiscard]] float* data() { return values.data(); }
  [[nodiscard]] sizes shape() const { return {values.size()}; }
  void resize(const cairn::extents& to) { values.resize(static_cast<std::size_t>(to[0])); }
};

/// The operations of a sequence.
#define SEQUENCE_OPERATIONS                                   \
  using value_type = float;                                   \
  [[nodiscard]] auto begin() { return values.begin(); }       \
  [[nodiscard]] auto end() { return values.end(); }           \
  [[nodiscard]] auto begin() const { return values.begin(); } \
  [[nodiscard]] auto end() const { return values.end(); }     \
  void resize(std::size_t to) { values.resize(to); }

struct plain_list {
  std::vector<float> values;
  SEQUENCE_OPERATIONS
};
struct referring_list {
  std::vector<float>& values;
  SEQUENCE_OPERATIONS
};
struct named_referring_list {
  std::vector<float>& values;
  std::string name;
  SEQUENCE_OPERATIONS
};
struct named_list {
  std::vector<float> values;
  std::string name;
  SEQUENCE_OPERATIONS
};
struct fixed_list {
  using value_type = int;
  int items[4]{};
  std::size_t count = 0;
  [[nodiscard]] int* begin() { return items; }
  [[nodiscard]] int* end() { return items + count; }
  [[nodiscard]] const int* begin() const { return items; }
  [[nodiscard]] const int* end() const { return items + count; }
  void resize(std::size_t to) { count = to; }
};

struct used_fixed_list : fixed_list {};  // the list alone
struct fixed_list_with_step {
  using value_type = int;
  int items[4]{};
  std::size_t count = 0, step = 0;
  [[nodiscard]] int* begin() { return items; }
  [[nodiscard]] int* end() { return items + count; }
  void resize(std::size_t to) { count = to; }
};
struct pointer_span {
  using value_type = int;
  using element_type = int;
  int* first = nullptr;
  std::size_t count = 0;
  [[nodiscard]] int* data() const { return first; }
  [[nodiscard]] int* begin() const { return first; }
  [[nodiscard]] int* end() const { return first + count; }
  [[nodiscard]] pointer_span subspan(std::size_t from) const { return {first + from, count - from}; }
};
struct pointer_span_with_step : pointer_span {
  std::size_t step = 0;
};

struct counted_map {
  using key_type = int;
  using mapped_type = int;
  using value_type = std::pair<const int, int>;
  std::map<int, int> entries;
  int lookups = 0;
  [[nodiscard]] auto begin() const { return entries.begin(); }
  [[nodiscard]] auto end() const { return entries.end(); }
  [[nodiscard]] std::size_t size() const { return entries.size(); }
  void clear() { entries.clear(); }
};

template <class Derived>
struct crtp_sequence {
  using value_type = float;
  [[nodiscard]] auto begin() { return static_cast<Derived*>(this)->values.begin(); }
  [[nodiscard]] auto end() { return static_cast<Derived*>(this)->values.end(); }
  [[nodiscard]] auto begin() const { return static_cast<const Derived*>(this)->values.begin(); }
  [[nodiscard]] auto end() const { return static_cast<const Derived*>(this)->values.end(); }
  [[nodiscard]] std::size_t size() const { return static_cast<const Derived*>(this)->values.size(); }
  void resize(std::size_t to) { static_cast<Derived*>(this)->values.resize(to); }
};
struct crtp_list : crtp_sequence<crtp_list> {
  std::vector<float> values;
};
struct named_crtp_list : crtp_sequence<named_crtp_list> {
  std::vector<float> values;
  std::string name;
};

}  // namespace

TEST_CASE("an aggregate with operations of its own is what they say if its fields are no more than these need") {
  STATIC_REQUIRE(category_of<plain_tensor>() == category::tensor);
  STATIC_REQUIRE(category_of<strided_tensor>() == category::tensor);
  STATIC_REQUIRE(category_of<plain_list>() == category::sequence);
  STATIC_REQUIRE(category_of<crtp_list>() == category::sequence);
  STATIC_REQUIRE(category_of<fixed_list>() == category::sequence);
  STATIC_REQUIRE(category_of<pointer_span>() == category::span);
  STATIC_REQUIRE(category_of<referring_list>() == category::sequence);
  STATIC_REQUIRE(category_of<used_fixed_list>() == category::sequence);
  plain_tensor tensor{{1, 2, 3}, {3, 1}}, fresh{{}, {0, 0}};
  CHECK(tests::comes_back(tensor, fresh));
  CHECK(fresh.dims == sizes{3, 1});
}

TEST_CASE("a sequence in an array takes no more elements than it has room for, although its resize does not check") {
  for (const std::size_t count : {3U, 4U, 5U, 9U}) {
    const std::vector<int> saved(count, 7);
    fixed_list list;
    used_fixed_list used;
    list.items[1] = used.items[1] = 5;
    list.count = used.count = 2;
    const bool fits = count <= 4;
    const tests::kept kept(cairn::detail::describe(saved));
    for (const auto& failure :
         {sample::failure_of([&] { kept.load(list); }), sample::failure_of([&] { kept.load(used); })})
      CHECK((failure.code == cairn::errc::mismatch) == !fits);
    CHECK(list.count == (fits ? count : 2));
    CHECK(used.count == (fits ? count : 2));
    CHECK(list.items[1] == (fits ? 7 : 5));
  }
}

TEST_CASE("a class that is no aggregate is saved as its operations say, without further members: it needs a list") {
  class counted {
   public:
    using value_type = float;
    [[nodiscard]] auto begin() { return values_.begin(); }
    [[nodiscard]] auto end() { return values_.end(); }
    [[nodiscard]] auto begin() const { return values_.begin(); }
    [[nodiscard]] auto end() const { return values_.end(); }
    void resize(std::size_t to) { values_.resize(to); }
    int uses = 0;

   private:
    std::vector<float> values_;
  };
  class with_list : public counted {
   public:
    std::vector<float> more;
    static auto cairn_fields() { return cairn::fields<&with_list::more, &counted::uses>{}; }
  };
  STATIC_REQUIRE(category_of<counted>() == category::sequence);
  counted original, fresh;
  original.resize(3);
  original.uses = 7;
  fresh.uses = 5;
  tests::kept(cairn::detail::describe(original)).load(fresh);
  CHECK(fresh.end() - fresh.begin() == 3);
  CHECK(fresh.uses == 5);  // docs/types.md, "Classes with the operations of a container"
  with_list saved, loaded;
  saved.uses = 7;
  tests::kept(cairn::detail::describe(saved)).load(loaded);
  CHECK(loaded.uses == 7);
}

TEST_CASE("an aggregate with operations of its own and further fields is a record: no member is lost") {
  STATIC_REQUIRE(category_of<labelled_tensor>() == category::record);
  STATIC_REQUIRE(category_of<counted_map>() == category::record);
  STATIC_REQUIRE(category_of<named_referring_list>() == category::record);  // which is refused
  STATIC_REQUIRE(category_of<fixed_list_with_step>() == category::record);
  STATIC_REQUIRE(cairn::detail::may_lose_members<pointer_span_with_step>());
  parameter weight{{1, 2}, {2, 1}, "weight", true}, fresh;
  CHECK(tests::kept(cairn::detail::describe(weight)).paths() == "dims grad name values");
  CHECK(tests::comes_back(weight, fresh));
  CHECK(fresh.name == "weight");
  CHECK(fresh.grad);
  CHECK(fresh.dims == weight.dims);
  CHECK(fresh.values == weight.values);

  named_list names{{1, 2}, "b"}, other;
  CHECK(tests::comes_back(names, other));
  CHECK(other.name == "b");
  CHECK(other.values == names.values);

  fixed_list_with_step fixed{{5, 6}, 2, 7}, empty;
  CHECK(tests::comes_back(fixed, empty));
  CHECK(empty.count == 2);
  CHECK(empty.step == 7);
  CHECK(empty.items[1] == 6);

  named_crtp_list crtp, made;
  crtp.values = {3};
  crtp.name = "c";
  CHECK(tests::comes_back(crtp, made));
  CHECK(made.name == "c");
  CHECK(made.values == crtp.values);
}
