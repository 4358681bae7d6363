#include "cairn/state/adapter.hpp"

#include <numeric>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

/// A library's matrix in column-major order, which Cairn cannot see through.
class matrix {
 public:
  matrix() = default;
  matrix(int rows, int columns) : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {}
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] std::vector<float>& values() { return values_; }
  friend bool operator==(const matrix&, const matrix&) = default;

 private:
  int rows_ = 0;
  int columns_ = 0;
  std::vector<float> values_;
};

class counter {
 public:
  void count(int by) { total_ += by; }
  [[nodiscard]] int total() const { return total_; }

 private:
  int total_ = 0;
};

struct linear {
  std::vector<float> weight;
  std::vector<float> bias;
};
class hidden_linear {
 public:
  linear inside;
};

struct growing {
  int value = 0;
};

struct positive {
  int value = 1;
  explicit positive(int v = 1) : value(v) {}
  virtual ~positive() = default;
};

}  // namespace

template <>
struct cairn::adapter<matrix> {
  static tensor_view<float> view(matrix& m) {
    return {m.values().data(),
            {static_cast<std::uint64_t>(m.rows()), static_cast<std::uint64_t>(m.columns())},
            {1, m.rows()}};
  }
  static void resize(matrix& m, const extents& shape) {
    m = matrix(static_cast<int>(shape[0]), static_cast<int>(shape[1]));
  }
};

template <>
struct cairn::adapter<counter> {
  static int get(const counter& c) { return c.total(); }
  static void set(counter& c, int total) {
    c = counter();
    c.count(total);
  }
};

template <>
struct cairn::adapter<hidden_linear> {
  template <class Field>
  static void fields(hidden_linear& object, const Field& field) {
    field("w", object.inside.weight);
    field("b", object.inside.bias);
  }
};

template <>
struct cairn::adapter<growing> {
  static int get(const growing& g) { return g.value; }
  static void set(growing& g, int value) { g.value = value; }
  static void check(const growing& g, int value) {
    if (value < g.value) cairn::fail(cairn::errc::mismatch, {"smaller"});
  }
};

template <>
struct cairn::adapter<positive> {
  static int get(const positive& p) { return p.value; }
  static void set(positive& p, int value) {
    if (value <= 0) cairn::fail(cairn::errc::corrupt, {"not positive"});
    p.value = value;
  }
};

TEST_CASE("a type seen as one array is read and written in place, whatever its order in memory") {
  struct state {
    matrix m;
  };
  state original{matrix(2, 3)};
  std::iota(original.m.values().begin(), original.m.values().end(), 0.0F);
  const tests::kept kept(cairn::detail::describe(original));
  REQUIRE(kept.paths() == "m");
  CHECK(kept.contents.leaves[0].shape == cairn::extents{2, 3});
  float row_major[6];
  std::memcpy(row_major, kept.bytes.at("m").data(), sizeof row_major);
  CHECK(std::vector<float>(row_major, row_major + 6) == std::vector<float>{0, 2, 4, 1, 3, 5});

  state fresh;
  const auto report = kept.load(fresh);
  CHECK(fresh.m == original.m);
  CHECK(report.resized == std::vector<std::string>{"m"});
}

TEST_CASE("a type saved as a copy comes back through its own interface") {
  struct state {
    counter hits;
    std::vector<counter> many;
  };
  state original;
  original.hits.count(7);
  original.many.resize(3);
  original.many[2].count(5);
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.hits.total() == 7);
  REQUIRE(fresh.many.size() == 3);
  CHECK(fresh.many[2].total() == 5);
}

TEST_CASE("parts named by an adapter have paths") {
  struct state {
    hidden_linear layer;
  };
  state original{{{{1, 2}, {3}}}};
  CHECK(tests::kept(cairn::detail::describe(original)).paths() == "layer.b layer.w");
  CHECK(tests::comes_back(original));
}

TEST_CASE("what an adapter refuses is found before anything is changed") {
  struct state {
    std::vector<int> first;
    positive last;
  };
  state bad{{1, 2}, positive(-1)};
  const tests::kept kept(cairn::detail::describe(bad));
  state fresh{{9}, positive(4)};
  CHECK_THROWS_WITH(kept.load(fresh), Catch::Matchers::ContainsSubstring("last in kept: not positive"));
  CHECK(fresh.first == std::vector<int>{9});
  CHECK(fresh.last.value == 4);
}

TEST_CASE("what an adapter refuses for the current object is found before anything is changed") {
  struct state {
    std::vector<int> first;
    growing last;
    std::vector<growing> many;
  };
  state original{{1, 2}, {5}, {{7}}};
  const tests::kept kept(cairn::detail::describe(original));
  state larger{{9}, {6}, {}};
  CHECK_THROWS_WITH(kept.load(larger), Catch::Matchers::ContainsSubstring("last in kept: smaller"));
  CHECK(larger.first == std::vector<int>{9});
  CHECK(larger.last.value == 6);
  state one_larger{{9}, {0}, {{8}}};
  CHECK_THROWS_WITH(kept.load(one_larger), Catch::Matchers::ContainsSubstring("many.0 in kept: smaller"));
  CHECK(one_larger.first == std::vector<int>{9});
  state smaller{{9}, {4}, {}};
  kept.load(smaller);
  CHECK(smaller.last.value == 5);
  REQUIRE(smaller.many.size() == 1);
  CHECK(smaller.many[0].value == 7);
}
