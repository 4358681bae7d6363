// SPDX-License-Identifier: MIT
#include "cairn/state/walk_record.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

struct inner {
  int a = 0;
  float b[2][3] = {};
};
struct with_const {
  const int width = 3;
  std::pair<int, const float> pair{1, 2.0F};
  std::tuple<const int, std::string> tuple{4, "x"};
  std::array<const float, 2> array{5, 6};
  const int list[2] = {7, 8};
  std::span<const float> span;
  cairn::tensor_view<const float> view;
};
struct long_arrays {
  int first = 0;
  float row[512] = {};
  double matrix[64][64] = {};
  float all[100000] = {};
  std::string names[300];
  int last = 0;
};
struct empty_base {};
template <class Derived>
struct crtp_base {};
struct with_empty_bases : empty_base, crtp_base<with_empty_bases> {
  int a = 0;
  std::vector<int> b;
};

struct state {
  inner one;
  std::array<std::string, 2> names;
  inner many[2];
  std::complex<float> z;
  std::chrono::milliseconds elapsed{};
  std::pair<int, std::string> pair;
  std::tuple<int, std::vector<float>> tuple;
  std::array<int, 0> nothing;
  long double precise = 0;
};

}  // namespace

/// Functions with the names of those that the library calls.
namespace own_names {

template <class... T>
void tie(T&...) {}
template <std::size_t, class T>
void get(T&) {}
template <class T>
void begin(T&) {}
template <class T>
void end(T&) {}
template <class T>
void size(const T&) {}
template <class T>
void data(const T&) {}
template <class F, class T>
void apply(F&&, T&&) {}

struct point {
  int x = 0;
  float y[2] = {};
  bool operator==(const point& o) const { return x == o.x && y[0] == o.y[0] && y[1] == o.y[1]; }
};
struct named {
  point at;
  std::string name;
};
struct key {
  int a = 0;
  int b = 0;
  bool operator==(const key&) const = default;
};
struct hash {
  std::size_t operator()(const key& k) const { return static_cast<std::size_t>(k.a); }
};
struct state {
  named one;
  named list[2];
  std::array<point, 2> array;
  std::tuple<named, point> tuple;
  std::pair<named, point> pair;
  std::vector<point> points;
  std::unordered_set<key, hash> keys;
};

}  // namespace own_names

TEST_CASE("parts of fixed number have the paths of their names and indices") {
  const tests::kept kept(state{});
  CHECK(kept.paths() ==
        "elapsed many.a many.b names.0 names.1 nothing one.a one.b pair.first pair.second precise tuple.0 "
        "tuple.1 z");
  const auto shape_of = [&](const char* path) { return kept.contents.leaves[kept.contents.find(path)].shape; };
  CHECK(shape_of("one.a").empty());
  CHECK(shape_of("one.b") == cairn::extents{2, 3});
  CHECK(shape_of("many.b") == cairn::extents{2, 2, 3});
  CHECK(shape_of("z") == cairn::extents{2});
}

TEST_CASE("a state that is a single value has a path all the same") {
  CHECK(tests::kept(3.5).paths() == "value");
  double fresh = 0;
  CHECK(tests::comes_back(3.5, fresh));
  CHECK(fresh == 3.5);
  std::vector<int> list;
  CHECK(tests::comes_back(std::vector<int>{1, 2, 3}, list));
  CHECK(list.size() == 3);
}

TEST_CASE("the padding of a long double does not get into the bytes") {
  alignas(long double) unsigned char dirty[2][sizeof(long double)];
  std::memset(dirty[0], 0xAA, sizeof dirty[0]);
  std::memset(dirty[1], 0x55, sizeof dirty[1]);
  auto* a = new (dirty[0]) long double;
  auto* b = new (dirty[1]) long double;
  *a = *b = 0.1L;
  CHECK(tests::kept(*a) == tests::kept(*b));
}

TEST_CASE("a type in a namespace with functions of the names that the library uses") {
  own_names::state original;
  original.one = {{1, {2, 3}}, "one"};
  original.list[1].at.x = 4;
  std::get<0>(original.tuple).name = "five";
  original.points.resize(3);
  original.points[2].x = 6;
  original.keys = {{1, 2}, {3, 4}};
  own_names::state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK((fresh.points == original.points));
  CHECK((fresh.keys == original.keys));
}

TEST_CASE("C arrays of any length are one part each") {
  static long_arrays original, fresh;
  original.row[511] = 1;
  original.matrix[63][63] = 2;
  original.all[99999] = 3;
  original.names[299] = "four";
  original.last = 5;
  const tests::kept kept(original);
  CHECK(kept.contents.leaves[kept.contents.find("matrix")].shape == cairn::extents{64, 64});
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.all[99999] == 3);
  CHECK(fresh.names[299] == "four");
  CHECK(fresh.last == 5);
}

TEST_CASE("empty base classes add nothing") {
  with_empty_bases original, fresh;
  original.a = 1;
  original.b = {2, 3};
  CHECK(tests::kept(original).paths() == "a b");
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.b == original.b);
}

TEST_CASE("const parts are saved") {
  const float values[] = {1, 2, 3};
  const float others[] = {4, 5};
  with_const original;
  original.span = values;
  original.view = {others, {2}};
  const tests::kept kept(original);
  CHECK(kept.paths() == "array list pair.first pair.second span tuple.0 tuple.1 view width");
  CHECK(kept.bytes.at("span").size() == sizeof values);
  int width = 0;
  std::memcpy(&width, kept.bytes.at("width").data(), sizeof width);
  CHECK(width == 3);
}

namespace {

struct numbered {
  explicit numbered(int n) : number(n) {}
  int number;
  static auto cairn_fields() { return cairn::fields<&numbered::number>{}; }
};
struct array_of_numbered {
  int first;
  numbered pair[2];
  int last;
};

}  // namespace

TEST_CASE("C arrays of objects without a default constructor come back") {
  const array_of_numbered original{9, {numbered(1), numbered(2)}, 3};
  array_of_numbered loaded{0, {numbered(0), numbered(0)}, 0};
  tests::kept(original).load(loaded);
  CHECK(loaded.first == 9);
  CHECK(loaded.pair[1].number == 2);
  CHECK(loaded.last == 3);
}
