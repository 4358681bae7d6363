// SPDX-License-Identifier: MIT
#include "cairn/state/adapter.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace tests {

/// A handle that is null if default-made.
struct generator final {
  std::shared_ptr<std::uint64_t> state;
  generator() = default;
  virtual ~generator() = default;
};

}  // namespace tests

namespace {

using tests::generator;

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

/// A generator of a device: text of another device does not fit.
struct device_generator {
  int device;
  std::uint64_t state = 0;
  explicit device_generator(int on) : device(on) {}
  virtual ~device_generator() = default;
};

/// Throws what is no cairn::error, in each function of its adapter that `in` names.
struct thrower {
  std::string_view in;
  int value = 0;
  virtual ~thrower() = default;
};
struct view_thrower : thrower {
  bool makes_wrong_shape = false;
  std::vector<int> values;
};
struct fields_thrower : thrower {};

/// An array of an even number of elements.
struct even {
  std::vector<int> values;
  virtual ~even() = default;
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

template <>
struct cairn::adapter<generator> {
  static generator make() {
    generator made;
    made.state = std::make_shared<std::uint64_t>(1);
    return made;
  }
  static std::uint64_t get(const generator& g) { return g.state ? *g.state : 0; }
  static void set(generator& g, std::uint64_t state) {
    if (!g.state) throw std::logic_error("a null generator");
    *g.state = state;
  }
};

template <>
struct cairn::adapter<device_generator> {
  static device_generator prototype(const device_generator& like) { return device_generator(like.device); }
  static std::string get(const device_generator& g) { return std::to_string(g.device) + ':' + std::to_string(g.state); }
  static void set(device_generator& g, const std::string& text) {
    const auto colon = text.find(':');
    if (std::stoi(text.substr(0, colon)) != g.device) throw std::invalid_argument("of another device");
    g.state = std::stoull(text.substr(colon + 1));
  }
};

namespace {
void may_throw(const thrower& object, std::string_view function) {
  if (object.in == function) throw std::runtime_error("foreign");
  if (object.in == "int") throw 5;
}
}  // namespace

template <>
struct cairn::adapter<thrower> {
  static int get(const thrower& t) {
    may_throw(t, "get");
    return t.value;
  }
  static void set(thrower& t, int value) {
    if (value == 13) throw std::runtime_error("foreign");
    t.value = value;
  }
  static void check(const thrower& t, int) { may_throw(t, "check"); }
};

template <>
struct cairn::adapter<view_thrower> {
  static tensor_view<int> view(view_thrower& t) {
    may_throw(t, "view");
    if (t.in == "error") fail(errc::invalid, {"not now"});
    return {t.values.data(), {t.values.size()}};
  }
  static bool can_be(const view_thrower& t, const extents& shape) {
    may_throw(t, "can_be");
    return shape.size() == 1;
  }
  static void resize(view_thrower& t, const extents& shape) {
    may_throw(t, "resize");
    t.values.resize(t.makes_wrong_shape ? 1 : shape[0]);
  }
};

template <>
struct cairn::adapter<even> {
  static tensor_view<int> view(even& e) { return {e.values.data(), {e.values.size()}}; }
  static void resize(even& e, const extents& shape) {
    if (shape[0] % 2 != 0) throw std::invalid_argument("an odd size");
    e.values.resize(shape[0]);
  }
};

template <>
struct cairn::adapter<fields_thrower> {
  template <class Field>
  static void fields(fields_thrower& t, const Field& field) {
    field("value", t.value);
    may_throw(t, "fields");
  }
};

TEST_CASE("a type seen as one array is read and written in place, whatever its order in memory") {
  struct state {
    matrix m;
  };
  state original{matrix(2, 3)};
  std::iota(original.m.values().begin(), original.m.values().end(), 0.0F);
  const tests::kept kept(original);
  REQUIRE(kept.paths() == "m");
  CHECK(kept.contents.leaves[0].shape == cairn::extents{2, 3});
  float row_major[6];
  std::memcpy(row_major, kept.bytes.at("m").data(), sizeof row_major);
  CHECK(std::vector<float>(row_major, row_major + 6) == std::vector<float>{0, 2, 4, 1, 3, 5});

  state fresh{matrix(1, 2)};
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
  CHECK(tests::kept(original).paths() == "layer.b layer.w");
  CHECK(tests::comes_back(original));
}

TEST_CASE("what an adapter refuses is found before anything is changed") {
  struct state {
    std::vector<int> first;
    positive last;
  };
  state bad{{1, 2}, positive(-1)};
  const tests::kept kept(bad);
  state fresh{{9}, positive(4)};
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("last in kept: not positive"));
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
  const tests::kept kept(original);
  state larger{{9}, {6}, {}};
  CHECK_THROWS_WITH(kept.load(larger), ContainsSubstring("last in kept: smaller"));
  CHECK(larger.first == std::vector<int>{9});
  CHECK(larger.last.value == 6);
  state one_larger{{9}, {0}, {{8}}};
  CHECK_THROWS_WITH(kept.load(one_larger), ContainsSubstring("many.0 in kept: smaller"));
  CHECK(one_larger.first == std::vector<int>{9});
  state smaller{{9}, {4}, {}};
  kept.load(smaller);
  CHECK(smaller.last.value == 5);
  REQUIRE(smaller.many.size() == 1);
  CHECK(smaller.many[0].value == 7);
}

TEST_CASE("a shape that the resize of an adapter refuses is found before anything is changed") {
  struct state {
    std::vector<int> first;
    even last;
    std::vector<even> many;
  };
  struct any {
    std::vector<int> first{1};
    std::vector<int> last;
    std::vector<std::vector<int>> many;
  };
  state fresh;
  const tests::kept odd(any{{1}, {1, 2, 3}, {}});
  CHECK_THROWS_WITH(odd.load(fresh),
                    ContainsSubstring("last has shape [3]") && ContainsSubstring("refuses the shape: an odd size"));
  CHECK(fresh.first.empty());
  const tests::kept good(any{{1}, {1, 2}, {{1, 2, 3, 4}}});
  good.load(fresh);
  CHECK(fresh.last.values == std::vector<int>{1, 2});
  CHECK(fresh.many.at(0).values == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("make() gives the objects that a load fills") {
  struct state {
    generator one = cairn::adapter<generator>::make();
    std::vector<generator> many;
    std::list<generator> chain;
    std::map<std::string, std::vector<generator>> named;
    std::optional<generator> maybe;
    std::unique_ptr<generator> owned;
    std::shared_ptr<generator> shared;
    std::variant<int, generator> either;
  };
  const auto with = [](std::uint64_t value) {
    auto made = cairn::adapter<generator>::make();
    *made.state = value;
    return made;
  };
  state original;
  *original.one.state = 2;
  original.many = {with(3), with(4)};
  original.chain = {with(5)};
  original.named["a"] = {with(6)};
  original.maybe = with(7);
  original.owned = std::make_unique<generator>(with(8));
  original.shared = std::make_shared<generator>(with(9));
  original.either = with(10);
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  REQUIRE(fresh.many.size() == 2);
  CHECK(*fresh.many[1].state == 4);
  CHECK(*fresh.maybe->state == 7);
  CHECK(*fresh.owned->state == 8);
  CHECK(*std::get<1>(fresh.either).state == 10);
  fresh.many.push_back(with(1));
  fresh.many.push_back(with(1));
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.many.size() == 2);
}

TEST_CASE("prototype() gives the object on which set is tried") {
  struct state {
    std::vector<int> first;
    device_generator gpu{1};
    std::vector<device_generator> many;
  };
  state original{{1}, device_generator(1), {device_generator(0), device_generator(1)}};
  original.gpu.state = 77;
  original.many[1].state = 5;
  const tests::kept kept(original);
  state same{{}, device_generator(1), {device_generator(0), device_generator(1)}};
  kept.load(same);
  CHECK(same.gpu.state == 77);
  CHECK(same.many[1].state == 5);
  state other{{9}, device_generator(2), same.many};
  CHECK_THROWS_WITH(kept.load(other), ContainsSubstring("kept cannot be loaded: gpu: of another device"));
  CHECK(other.first == std::vector<int>{9});
  state larger{{9}, device_generator(1), {}};
  CHECK_THROWS_WITH(
      kept.load(larger),
      ContainsSubstring(
          "many has 2 elements in the checkpoint, and in the state it can have at most 0, "
          "since their type has no default constructor; make them before the load, or leave it out with filter"));
}

TEST_CASE("what an adapter throws is a cairn::error with the path") {
  struct state {
    std::vector<int> first;
    thrower copy;
    view_thrower view;
    fields_thrower fields;
  };
  state original{{1}, {}, {}, {}};
  original.view.values = {1, 2, 3};
  const auto message = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const cairn::error& cause) {
      return std::string(cause.sentence());
    }
    return "no cairn::error";
  };
  const auto saved = [&](auto state::* part, std::string_view in) {
    auto bad = original;
    (bad.*part).in = in;
    return message([&] { (void)cairn::detail::describe(bad); });
  };
  CHECK(saved(&state::view, "error") == "view: not now");
  CHECK(saved(&state::copy, "get") == "the state cannot be saved: copy: foreign");
  CHECK(saved(&state::view, "view") == "the state cannot be saved: view: foreign");
  CHECK(saved(&state::fields, "fields") == "the state cannot be saved: fields: foreign");

  const tests::kept kept(original);
  const auto loaded = [&](auto state::* part, std::string_view in) {
    state fresh;
    (fresh.*part).in = in;
    const auto what = message([&] { kept.load(fresh); });
    CHECK(fresh.first.empty());
    return what;
  };
  CHECK(loaded(&state::copy, "check") == "kept cannot be loaded: copy: foreign");
  CHECK(loaded(&state::view, "view") == "kept cannot be loaded: view: foreign");
  CHECK(loaded(&state::view, "can_be") == "kept cannot be loaded: view: foreign");
  CHECK(loaded(&state::fields, "fields") == "kept cannot be loaded: fields: foreign");

  original.copy.value = 13;
  const tests::kept unlucky(original);
  state fresh;
  CHECK(message([&] { unlucky.load(fresh); }) == "kept cannot be loaded: copy: foreign");
  CHECK(fresh.first.empty());

  state late;  // can_be accepts what resize refuses: what precedes it is changed
  late.view.in = "resize";
  CHECK(message([&] { kept.load(late); }) == "kept cannot be loaded: view: foreign");
  CHECK(late.first.size() == 1);
  late.view.in = "";
  late.view.makes_wrong_shape = true;
  CHECK(message([&] { kept.load(late); }) == "view was resized to I32 [3], but is I32 [1]");
}
