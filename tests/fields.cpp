// SPDX-License-Identifier: MIT
#include "cairn/fields.hpp"

namespace {

class counter {
 public:
  static auto cairn_fields() { return cairn::fields<&counter::hits_>{}; }
  void count() { ++hits_; }

 private:
  int hits_ = 0;
};
struct layer {
  virtual ~layer() = default;
};
struct dense final : layer {
  float rate = 0.5F;
  static auto cairn_fields() { return cairn::fields<&dense::rate>{}; }
};
class token {
 public:
  [[nodiscard]] int text() const { return text_; }
  void set(int text) { text_ = text; }

 private:
  int text_ = 0;
};

}  // namespace

template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense> {};

template <>
struct cairn::adapter<token> {
  static int get(const token& t) { return t.text(); }
  static void set(token& t, int text) { t.set(text); }
};

#include "catch.hpp"
#include "state/kept.hpp"

TEST_CASE("types that are described with the light header alone can be saved and loaded") {
  struct state {
    counter hits;
    std::unique_ptr<layer> first;
    token word;
    cairn::per_rank<int> cursor{3};
  };
  state original;
  original.hits.count();
  original.first = std::make_unique<dense>();
  original.word.set(5);
  state fresh;
  CHECK(tests::comes_back(original, fresh));
  CHECK(fresh.word.text() == 5);
  CHECK(*fresh.cursor == 3);
}

TEST_CASE("per-rank state without ranks is that of one rank") {
  const tests::kept kept(cairn::per_rank<int>{7});
  CHECK(kept.paths() == "rank0");
  cairn::per_rank<int> fresh;
  kept.load(fresh);
  CHECK(*fresh == 7);
}
