#include "cairn/state/walk_fixed.hpp"

#include <complex>
#include <string>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

struct inner {
  int a = 0;
  float b[2][3] = {};
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

TEST_CASE("parts of fixed number have the paths of their names and indices") {
  const tests::kept kept(cairn::detail::describe(state{}));
  CHECK(kept.paths() ==
        "elapsed many.a many.b names.0 names.1 nothing one.a one.b pair.first pair.second precise tuple.0 "
        "tuple.1 z");
  const auto shape_of = [&](const char* path) { return kept.contents.leaves[kept.contents.find(path)].shape; };
  CHECK(shape_of("one.a").empty());
  CHECK(shape_of("one.b") == cairn::extents{2, 3});
  CHECK(shape_of("many.b") == cairn::extents{2, 2, 3});
  CHECK(shape_of("z") == cairn::extents{2});
}

TEST_CASE("values of fixed layout come back") {
  state original;
  original.one = {7, {{1, 2, 3}, {4, 5, 6}}};
  original.many[1] = {8, {{7, 8, 9}, {1, 1, 1}}};
  original.names = {"x", "yz"};
  original.z = {1.5F, -2.5F};
  original.elapsed = std::chrono::milliseconds(123);
  original.pair = {4, "four"};
  original.tuple = {5, {5, 5}};
  original.precise = 1.0L / 3;
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.many[1].b[0][2] == 9);
  CHECK(fresh.names[1] == "yz");
  CHECK(fresh.z == original.z);
  CHECK(fresh.elapsed.count() == 123);
  CHECK(fresh.pair.second == "four");
  CHECK(fresh.precise == original.precise);
}

TEST_CASE("a state that is a single value has a path all the same") {
  CHECK(tests::kept(cairn::detail::describe(3.5)).paths() == "value");
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
  CHECK(tests::kept(cairn::detail::describe(*a)) == tests::kept(cairn::detail::describe(*b)));
}
