#include "cairn/state/walk_pointer.hpp"

#include <memory>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"

namespace {

struct tensor {
  std::vector<float> values;
};
struct layer {
  virtual ~layer() = default;
  int id = 0;
};
struct dense : layer {
  std::vector<float> weight;
  static auto cairn_fields() { return cairn::fields<&layer::id, &dense::weight>{}; }
};
struct dropout : layer {
  double rate = 0.5;
  static auto cairn_fields() { return cairn::fields<&layer::id, &dropout::rate>{}; }
};
struct unlisted : layer {
  static auto cairn_fields() { return cairn::fields<&layer::id>{}; }
};
struct node {
  int value = 0;
  std::shared_ptr<node> next;
};
struct chain {
  int value = 0;
  std::unique_ptr<chain> next;
};

}  // namespace

template <>
struct cairn::polymorphic<layer> : cairn::one_of<dense, dropout> {};

TEST_CASE("null and not null come back over null and not null") {
  for (const bool full : {false, true}) {
    for (const bool was_full : {false, true}) {
      auto original = full ? std::make_unique<tensor>(tensor{{1, 2}}) : nullptr;
      auto fresh = was_full ? std::make_unique<tensor>(tensor{{9}}) : nullptr;
      CHECK(tests::comes_back(original, fresh));
      CHECK((fresh != nullptr) == full);
    }
  }
}

TEST_CASE("objects that are shared come back shared, others do not") {
  struct state {
    std::shared_ptr<tensor> embedding;
    std::shared_ptr<tensor> output;
    std::weak_ptr<tensor> watched;
    std::vector<std::shared_ptr<tensor>> all;
  };
  state tied;
  tied.embedding = tied.output = std::make_shared<tensor>(tensor{{1, 2, 3}});
  tied.watched = tied.embedding;
  tied.all = {tied.output, nullptr, std::make_shared<tensor>(tensor{{4}})};
  const tests::kept kept(cairn::detail::describe(tied));
  CHECK(kept.paths() == "all.2.values embedding.values");  // the shared one once

  state fresh;
  kept.load(fresh);
  CHECK(fresh.embedding == fresh.output);
  CHECK(fresh.watched.lock() == fresh.embedding);
  CHECK(fresh.all[0] == fresh.embedding);
  CHECK(fresh.all[1] == nullptr);
  CHECK(fresh.embedding->values == std::vector<float>{1, 2, 3});

  state untied;
  untied.embedding = std::make_shared<tensor>(tensor{{1}});
  untied.output = std::make_shared<tensor>(tensor{{2}});
  CHECK(tests::comes_back(untied, fresh));  // into a state in which they are tied
  CHECK(fresh.embedding != fresh.output);
  CHECK(fresh.embedding->values == std::vector<float>{1});
  CHECK(fresh.output->values == std::vector<float>{2});
}

TEST_CASE("a ring of shared objects comes back as a ring") {
  auto first = std::make_shared<node>();
  first->value = 1;
  first->next = std::make_shared<node>();
  first->next->value = 2;
  first->next->next = first;
  std::shared_ptr<node> fresh;
  CHECK(tests::comes_back(first, fresh));
  CHECK(fresh->next->value == 2);
  CHECK(fresh->next->next == fresh);
  first->next->next.reset();
  fresh->next->next.reset();
}

TEST_CASE("an object behind a pointer to its base is made of the type that it had") {
  std::vector<std::unique_ptr<layer>> original;
  auto made = std::make_unique<dense>();
  made->id = 1;
  made->weight = {1, 2};
  original.push_back(std::move(made));
  original.push_back(std::make_unique<dropout>());
  std::vector<std::unique_ptr<layer>> fresh;
  fresh.push_back(std::make_unique<dropout>());
  CHECK(tests::comes_back(original, fresh));
  REQUIRE(fresh.size() == 2);
  CHECK(dynamic_cast<dense&>(*fresh[0]).weight == std::vector<float>{1, 2});
  CHECK(dynamic_cast<dropout*>(fresh[1].get()));

  std::vector<std::shared_ptr<layer>> shared{std::make_shared<dropout>()};
  shared.push_back(shared[0]);
  std::vector<std::shared_ptr<layer>> fresh_shared;
  CHECK(tests::comes_back(shared, fresh_shared));
  CHECK(fresh_shared[0] == fresh_shared[1]);
}

TEST_CASE("a type that is not listed is neither saved nor made") {
  const std::unique_ptr<layer> strange = std::make_unique<unlisted>();
  CHECK_THROWS_WITH(cairn::detail::describe(strange), Catch::Matchers::ContainsSubstring("does not list"));
  const std::unique_ptr<layer> original = std::make_unique<dropout>();
  tests::kept kept(cairn::detail::describe(original));
  kept.contents.structure.at("value").text = "std::system";
  std::unique_ptr<layer> fresh;
  CHECK_THROWS_WITH(kept.load(fresh), Catch::Matchers::ContainsSubstring("not a listed type"));
  CHECK(fresh == nullptr);
}

TEST_CASE("a chain too deep to walk is refused with advice") {
  auto head = std::make_unique<chain>();
  auto* last = head.get();
  for (int i = 0; i < 10000; ++i) {
    last->next = std::make_unique<chain>();
    last = last->next.get();
  }
  CHECK_THROWS_WITH(cairn::detail::describe(head),
                    Catch::Matchers::ContainsSubstring("keep long chains of objects in a vector"));
  while (head) head = std::move(head->next);
}

TEST_CASE("a checkpoint that shares what it does not have is refused") {
  const std::vector<std::shared_ptr<tensor>> original{std::make_shared<tensor>(), nullptr};
  tests::kept kept(cairn::detail::describe(original));
  kept.contents.structure.at("1") = {.what = cairn::detail::structure_entry::kind::same, .text = "elsewhere"};
  std::vector<std::shared_ptr<tensor>> fresh;
  CHECK_THROWS_WITH(kept.load(fresh), Catch::Matchers::ContainsSubstring("shares the object at elsewhere"));
}

TEST_CASE("a load that fails clears no pointer and makes no object") {
  struct state {
    std::unique_ptr<tensor> cleared, made;
  };
  struct extended {
    std::unique_ptr<tensor> cleared, made;
    int missing = 3;
  };
  state original;
  original.made = std::make_unique<tensor>(tensor{{1}});
  const tests::kept kept(cairn::detail::describe(original));
  extended fresh;
  fresh.cleared = std::make_unique<tensor>(tensor{{7}});
  const auto* const before = fresh.cleared.get();
  CHECK_THROWS_WITH(kept.load(fresh), Catch::Matchers::ContainsSubstring("missing is missing"));
  REQUIRE(fresh.cleared.get() == before);
  CHECK(fresh.cleared->values == std::vector<float>{7});
  CHECK(fresh.made == nullptr);
}

TEST_CASE("one shared object is not loaded into two of different types") {
  struct state {
    std::shared_ptr<tensor> a, b;
  };
  struct bias {
    std::vector<float> values;
  };
  struct retyped {
    std::shared_ptr<tensor> a;
    std::shared_ptr<bias> b;
  };
  state tied;
  tied.a = tied.b = std::make_shared<tensor>(tensor{{1}});
  const tests::kept kept(cairn::detail::describe(tied));
  retyped fresh;
  CHECK_THROWS_WITH(kept.load(fresh),
                    Catch::Matchers::ContainsSubstring("shares the object at a, which is not loaded as the same type"));
  CHECK(fresh.a == nullptr);
  CHECK(fresh.b == nullptr);
}
