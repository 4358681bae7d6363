// SPDX-License-Identifier: MIT
#include "cairn/adapters/boost_multi_array.hpp"

#include "cairn/state/state.hpp"
#include "catch.hpp"
#include "state/kept.hpp"
#include "state/refuses.hpp"

namespace {

using matrix = boost::multi_array<float, 2>;

/// An array of Fortran's order, with indices from 1 to n, and the second dimension descending.
matrix unusual(std::size_t rows, std::size_t columns) {
  const std::size_t order[] = {0, 1};
  const bool ascending[] = {true, false};
  matrix made(boost::extents[static_cast<long>(rows)][static_cast<long>(columns)],
              boost::general_storage_order<2>(order, ascending));
  made.reindex(1);
  return made;
}

}  // namespace

TEST_CASE("boost: arrays come back into empty and filled ones") {
  struct state {
    matrix a;
    boost::multi_array<int, 3> b;
    std::vector<matrix> many;
  };
  state original{matrix(boost::extents[2][3]), boost::multi_array<int, 3>(boost::extents[1][2][2]), {}};
  std::iota(original.a.data(), original.a.data() + 6, 1.0F);
  std::iota(original.b.data(), original.b.data() + 4, 7);
  original.many.push_back(original.a);
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.a == original.a);
  CHECK(fresh.b == original.b);
  fresh.a.resize(boost::extents[9][1]);
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.a == original.a);
}

TEST_CASE("boost: any storage order and index bases") {
  matrix plain(boost::extents[2][3]);
  std::iota(plain.data(), plain.data() + 6, 1.0F);
  const tests::kept kept(plain);
  for (auto into : {unusual(2, 3), unusual(5, 5)}) {
    kept.load(into);
    CHECK(into.index_bases()[0] == 1);
    for (long i = 0; i < 2; ++i)
      for (long j = 0; j < 3; ++j) CHECK(into[i + 1][j + 1] == plain[i][j]);
    CHECK(tests::kept(into) == kept);
  }
}

TEST_CASE("boost: a reference to an array keeps its shape") {
  matrix plain(boost::extents[2][3]);
  std::iota(plain.data(), plain.data() + 6, 1.0F);
  const tests::kept kept(plain);
  std::vector<float> memory(6);
  boost::multi_array_ref<float, 2> view(memory.data(), boost::extents[2][3]);
  kept.load(view);
  CHECK(memory == std::vector<float>{1, 2, 3, 4, 5, 6});
  boost::multi_array_ref<float, 2> other(memory.data(), boost::extents[3][2]);
  CHECK_THROWS_AS(kept.load(other), cairn::error);
  boost::multi_array<float, 1> vector;
  CHECK_THROWS_AS(kept.load(vector), cairn::error);
}

TEST_CASE("boost: a view of an array whose memory a load frees is refused") {
  matrix saved(boost::extents[2][2]);
  boost::multi_array<float, 1> two(boost::extents[2]);
  const tests::kept kept(cairn::state{{"a", saved}, {"v", two}});
  for (auto array : {matrix(boost::extents[3][3]), unusual(3, 3)}) {
    std::iota(array.data(), array.data() + 9, 1.0F);
    const auto before = array;
    boost::multi_array_ref<float, 1> view(array.data() + 4, boost::extents[2]);
    cairn::state all{{"a", array}, {"v", view}};
    tests::refuses(kept, all, cairn::errc::mismatch, "v refers to elements of a");
    CHECK(array == before);
  }
}
