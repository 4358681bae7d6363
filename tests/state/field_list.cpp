#include "cairn/state/field_list.hpp"

#include <vector>

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

}  // namespace

TEST_CASE("private members are saved under their names without the underscore; others are left alone") {
  struct state {
    running_mean loss;
  };
  state original;
  original.loss.add(3);
  original.loss.add(4);
  const tests::kept kept(cairn::detail::describe(original));
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
  const tests::kept kept(cairn::detail::describe(many));
  CHECK(kept.paths() == "count sum");
  CHECK(tests::comes_back(many));
}
