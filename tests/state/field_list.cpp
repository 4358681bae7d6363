// SPDX-License-Identifier: MIT
#include "cairn/state/words.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

class running_mean {
 public:
  static auto cairn_fields() { return cairn::fields<&running_mean::sum_, &running_mean::count_>{}; }

  void add(double x) {
    sum_ += x;
    ++count_;
    cache_ = sum_ / count_;
  }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] double cache() const { return cache_; }

 private:
  double sum_ = 0;
  int count_ = 0;
  double cache_ = 0;
};

struct base {
  int inherited = 0;
};
struct derived : base {
  std::vector<int> own;
  static auto cairn_fields() { return cairn::fields<&base::inherited, &derived::own>{}; }
};

struct layer {
  virtual ~layer() = default;
  int id = 0;
};
struct relu : layer {
  static auto cairn_fields() { return cairn::fields<&layer::id>{}; }
};

struct counted {
  int calls = 0;
  std::vector<float> seen;
};
struct renamed : counted {
  using cairn_bases = cairn::bases<counted>;
};
struct two_bases : running_mean, counted {
  int step = 0;
  using cairn_bases = cairn::bases<running_mean, counted>;
  static auto cairn_fields() { return cairn::fields<&two_bases::step>{}; }
};
struct named : std::vector<float> {
  std::string name;
  using cairn_bases = cairn::bases<std::vector<float>>;
  static auto cairn_fields() { return cairn::fields<&named::name>{}; }
};
struct numbers {
  int a = 0;
};
struct more_numbers : virtual numbers {
  int b = 0;
  using cairn_bases = cairn::bases<numbers>;
  static auto cairn_fields() { return cairn::fields<&more_numbers::b>{}; }
};

}  // namespace

TEST_CASE("private members are saved under their names without the underscore; others are left alone") {
  struct state {
    running_mean loss;
  };
  state original;
  original.loss.add(3);
  original.loss.add(4);
  const tests::kept kept(original);
  CHECK(kept.paths() == "loss.count loss.sum");
  state fresh;
  kept.load(fresh);
  CHECK(fresh.loss.sum() == 7);
  CHECK(fresh.loss.count() == 2);
  CHECK(fresh.loss.cache() == 0);
}

TEST_CASE("members of base classes can be listed") {
  derived original;
  original.inherited = 3;
  original.own = {1, 2};
  derived fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.inherited == 3);
  CHECK(fresh.own == original.own);
}

TEST_CASE("classes of numbers become columns in a container") {
  std::vector<running_mean> many(4);
  many[2].add(5);
  const tests::kept kept(many);
  CHECK(kept.paths() == "count sum");
  CHECK(tests::comes_back(many));
}

TEST_CASE("a derived class without members of its own lists those of its base class") {
  relu original;
  original.id = 3;
  relu fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.id == 3);
}

TEST_CASE("the fields of listed base classes have the paths that they have in the base class") {
  renamed only;
  only.calls = 2;
  only.seen = {1, 2};
  renamed fresh_only;
  CHECK(tests::comes_back(only, fresh_only));
  CHECK(fresh_only.seen == only.seen);

  two_bases both;
  both.add(4);
  both.seen = {5};
  both.step = 6;
  CHECK(tests::kept(both).paths() == "calls count seen step sum");
  std::vector<two_bases> many(3, both), fresh_many;
  CHECK(tests::comes_back(many, fresh_many));
  CHECK(fresh_many[2].sum() == 4);
  CHECK(fresh_many[2].seen == both.seen);
  CHECK(fresh_many[2].step == 6);
}

TEST_CASE("a listed base class that is a container is a part of its own") {
  named original;
  original.assign({1, 2, 3});
  original.name = "w";
  CHECK(tests::kept(original).paths() == "base name");
  named fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh == original);
  CHECK(fresh.name == "w");
}

TEST_CASE("objects with virtual base classes are saved one by one") {
  std::vector<more_numbers> original(2), fresh;
  original[1].a = 3;
  original[1].b = 4;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh[1].a == 3);
  CHECK(fresh[1].b == 4);
}
