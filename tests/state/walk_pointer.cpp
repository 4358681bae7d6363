// SPDX-License-Identifier: MIT
#include "cairn/state/walk_holder.hpp"

#include "catch.hpp"
#include "state/kept.hpp"
#include "store/sample.hpp"

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
struct labelled {
  virtual ~labelled() = default;
  std::string label;
};
struct block final : layer, labelled {  // as a `labelled` it has another address
  std::vector<float> weight;
  static auto cairn_fields() { return cairn::fields<&layer::id, &labelled::label, &block::weight>{}; }
};
struct tied : virtual layer {
  double rate = 0;
  static auto cairn_fields() { return cairn::fields<&layer::id, &tied::rate>{}; }
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
struct cairn::polymorphic<layer> : cairn::one_of<dense, dropout, cairn::named<"block", block, "old::block">, tied> {};
template <>
struct cairn::polymorphic<labelled> : cairn::one_of<block> {};
template <>
struct cairn::polymorphic<dense> : cairn::one_of<dense> {};

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
  const tests::kept kept(tied);
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
  CHECK_THROWS_WITH(cairn::detail::describe(strange), ContainsSubstring("value points to a '") &&
                                                          ContainsSubstring("unlisted', which") &&
                                                          ContainsSubstring("layer> does not list"));
  const std::unique_ptr<layer> original = std::make_unique<dropout>();
  tests::kept kept(original);
  kept.contents.structure.at("value").text = "std::system";
  std::unique_ptr<layer> fresh;
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("not a listed type"));
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
                    ContainsSubstring("keep the nodes of a long chain or graph by value in a vector"));
  while (head) head = std::move(head->next);
}

TEST_CASE("a checkpoint that shares what it does not have is refused") {
  const std::vector<std::shared_ptr<tensor>> original{std::make_shared<tensor>(), nullptr};
  tests::kept kept(original);
  kept.contents.structure.at("1") = {.what = cairn::detail::structure_entry::kind::same, .text = "elsewhere"};
  std::vector<std::shared_ptr<tensor>> fresh;
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("shares the object at elsewhere"));
}

TEST_CASE("a load that fails clears no pointer and makes no object") {
  struct state {
    std::unique_ptr<tensor> cleared, made;
    std::unique_ptr<layer> listed;
    std::shared_ptr<tensor> shared;
    std::shared_ptr<layer> listed_shared;
    std::shared_ptr<const tensor> constant;
  };
  struct extended : state {
    int missing = 3;
    static auto cairn_fields() {
      return cairn::fields<&state::cleared, &state::made, &state::listed, &state::shared, &state::listed_shared,
                           &state::constant, &extended::missing>{};
    }
  };
  state original;
  original.made = std::make_unique<tensor>(tensor{{1}});
  const tests::kept kept(original);
  extended fresh;
  fresh.cleared = std::make_unique<tensor>(tensor{{7}});
  fresh.listed = std::make_unique<dense>();
  fresh.shared = std::make_shared<tensor>();
  fresh.listed_shared = std::make_shared<dense>();
  fresh.constant = std::make_shared<tensor>();
  const auto* const before = fresh.cleared.get();
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("missing is missing"));
  REQUIRE(fresh.cleared.get() == before);
  CHECK(fresh.cleared->values == std::vector<float>{7});
  CHECK(fresh.made == nullptr);
  CHECK(fresh.listed);
  CHECK(fresh.shared);
  CHECK(fresh.listed_shared);
  CHECK(fresh.constant);
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
  const tests::kept kept(tied);
  retyped fresh;
  CHECK_THROWS_WITH(kept.load(fresh),
                    ContainsSubstring("b shares the object at a in the checkpoint, which is loaded as another type; "
                                      "give both pointers one type, or leave one of them out"));
  CHECK(fresh.a == nullptr);
  CHECK(fresh.b == nullptr);
}

namespace {

template <class First, class Second>
struct two {
  std::shared_ptr<First> a;
  std::shared_ptr<Second> b;
};

/// One object behind pointers to two of its base classes stays one.
template <class Object, class First, class Second>
void check_two_types() {
  const auto object = std::make_shared<Object>();
  object->id = 5;
  const two<First, Second> original{object, object};
  const tests::kept kept(original);
  CHECK(kept.contents.structure.at("b") ==
        cairn::detail::structure_entry{.what = cairn::detail::structure_entry::kind::same, .text = "a"});
  const auto check = [&](two<First, Second> fresh) {
    kept.load(fresh);
    REQUIRE(dynamic_cast<Object*>(fresh.a.get()));
    CHECK(dynamic_cast<Object*>(fresh.a.get())->id == 5);
    CHECK(dynamic_cast<Object*>(fresh.a.get()) == dynamic_cast<Object*>(fresh.b.get()));
    return fresh;
  };
  check({});
  check({std::make_shared<Object>(), std::make_shared<Object>()});
  const auto shared = std::make_shared<Object>();
  CHECK(check({shared, shared}).a == shared);  // in place

  two<First, Second> distinct{std::make_shared<Object>(), std::make_shared<Object>()};
  distinct.a->id = 7;
  two<First, Second> loaded{shared, shared};
  CHECK(tests::comes_back(distinct, loaded));
  CHECK(dynamic_cast<Object*>(loaded.a.get()) != dynamic_cast<Object*>(loaded.b.get()));
}

struct parts {
  float bias = 1;
  std::vector<float> weight;
  std::array<float, 4> row{};
  std::mt19937 random;
  std::vector<tensor> many;
  std::unique_ptr<tensor> owned;
};
template <class T>
struct part_behind {
  parts plain;
  std::shared_ptr<T> alias;
};
template <class T>
struct part_before {
  std::shared_ptr<T> alias;
  parts plain;
};

parts filled_parts() {
  parts made;
  made.weight = {1, 2, 3};
  made.many = {tensor{}, tensor{}};
  made.owned = std::make_unique<tensor>(tensor{{1, 2}});
  return made;
}

/// Describing fails, and the error names both paths.
template <class State>
void check_refused(const State& state, const std::string& one, const std::string& other) {
  const auto named = [](const std::string& first, const std::string& second) {
    return ContainsSubstring("shared pointer " + first + " is also at " + second + " or");
  };
  CHECK_THROWS_WITH(cairn::detail::describe(state), named(one, other) || named(other, one));
}

/// A pointer to the part that `select` selects is refused beside the whole object, be that shared or not. `path` is the
/// one that the error names; `is_inside`: the part lies in the object itself, not in memory that it owns.
template <class Select>
void check_alias(const std::string& path, bool is_inside, const Select& select) {
  CAPTURE(path);
  using part = std::remove_pointer_t<decltype(select(std::declval<parts&>()))>;
  const auto owner = std::make_shared<parts>(filled_parts());
  const std::shared_ptr<part> alias(owner, select(*owner));
  check_refused(two<parts, part>{owner, alias}, is_inside ? "a" : "a." + path, "b");
  check_refused(two<part, parts>{alias, owner}, is_inside ? "b" : "b." + path, "a");

  part_behind<part> behind{filled_parts(), {}};
  behind.alias = {owner, select(behind.plain)};
  check_refused(behind, path.empty() ? "plain" : "plain." + path, "alias");
  part_before<part> before{{}, filled_parts()};
  before.alias = {owner, select(before.plain)};
  check_refused(before, path.empty() ? "plain" : "plain." + path, "alias");
}

TEST_CASE("one object behind pointers to different base classes stays one") {
  check_two_types<dense, layer, dense>();
  check_two_types<dense, dense, layer>();
  check_two_types<tied, layer, layer>();
  SECTION("at different addresses") {
    const auto object = std::make_shared<block>();
    object->label = "first";
    two<labelled, layer> original{object, object}, fresh;
    CHECK(tests::comes_back(original, fresh));
    REQUIRE(dynamic_cast<block*>(fresh.a.get()));
    CHECK(dynamic_cast<block*>(fresh.a.get()) == dynamic_cast<block*>(fresh.b.get()));
    CHECK(fresh.a->label == "first");
    two<block, labelled> exact{object, object}, fresh_exact;
    CHECK(tests::comes_back(exact, fresh_exact));
    CHECK(fresh_exact.a == fresh_exact.b);
  }
  SECTION("and is not loaded where it does not fit") {
    const auto object = std::make_shared<dropout>();
    const two<layer, layer> original{object, object};
    two<layer, dense> fresh;
    CHECK_THROWS_WITH(tests::kept(original).load(fresh),
                      ContainsSubstring("b shares the object at a in the checkpoint, which is loaded as another type; "
                                        "give both pointers one type, or leave one of them out"));
    CHECK(fresh.a == nullptr);
  }
}

struct graph {
  std::vector<std::weak_ptr<const layer>> watched;
  std::vector<std::shared_ptr<layer>> any;
  std::vector<std::shared_ptr<const layer>> constant;
  std::vector<std::shared_ptr<dense>> exact;
};

graph random_graph(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::vector<std::shared_ptr<dense>> objects(1 + below(5));
  for (auto& each : objects) {
    each = std::make_shared<dense>();
    each->id = static_cast<int>(random() % 100);
  }
  const auto some = [&](auto& to) {
    to.resize(below(6));
    for (auto& each : to)
      if (below(5) > 0) each = objects[below(objects.size())];
  };
  graph made;
  some(made.any);
  some(made.constant);
  some(made.exact);
  for (const auto& each : made.any) made.watched.push_back(each);  // what nobody owns is not there after a load
  return made;
}

/// All objects, in the order of the pointers: which are the same, and their values.
std::vector<std::pair<std::size_t, int>> objects_of(const graph& from) {
  std::vector<const void*> all;
  std::vector<std::pair<std::size_t, int>> result;
  const auto add = [&](const layer* object) {
    all.push_back(object);
    const auto first = std::find(all.begin(), all.end(), all.back());
    result.emplace_back(static_cast<std::size_t>(first - all.begin()), object ? object->id : -1);
  };
  for (const auto& each : from.watched) add(each.lock().get());
  for (const auto& each : from.any) add(each.get());
  for (const auto& each : from.constant) add(each.get());
  for (const auto& each : from.exact) add(each.get());
  return result;
}

TEST_CASE("pointers of several types share after a load what they shared before") {
  std::mt19937 random(20);
  for (int i = 0; i < 200; ++i) {
    const graph original = random_graph(random);
    graph fresh = i % 4 == 0 ? graph{} : random_graph(random);
    REQUIRE(tests::comes_back(original, fresh));
    REQUIRE(objects_of(fresh) == objects_of(original));
  }
}

TEST_CASE("memory that a shared pointer shares with a part of another object is refused") {
  check_alias("", true, [](parts& from) { return &from.bias; });  // at the address of the whole
  check_alias("weight", true, [](parts& from) { return &from.weight; });
  check_alias("row", true, [](parts& from) { return &from.row; });
  check_alias("row", true, [](parts& from) { return &from.row[2]; });
  check_alias("random", true, [](parts& from) { return &from.random; });
  check_alias("many.1", false, [](parts& from) { return &from.many[1]; });
  check_alias("weight", false, [](parts& from) { return &from.weight[1]; });
  check_alias("owned", false, [](parts& from) { return from.owned.get(); });
  check_alias("owned", false, [](parts& from) { return &from.owned->values; });
  check_alias("owned.values", false, [](parts& from) { return &from.owned->values[1]; });
}

TEST_CASE("the state itself behind a pointer in it is refused") {
  struct child {
    std::weak_ptr<child> parent;
    std::vector<std::shared_ptr<child>> children;
    int value = 0;
  };
  const auto root = std::make_shared<child>();
  root->children.push_back(std::make_shared<child>());
  root->children[0]->parent = root;
  std::shared_ptr<child> fresh;
  CHECK(tests::comes_back(root, fresh));
  CHECK(fresh->children[0]->parent.lock() == fresh);
  CHECK_THROWS_WITH(cairn::detail::describe(*root), ContainsSubstring("shared pointer children.0.parent is also at"));
}

TEST_CASE("pointers into one allocation are no overlap where the objects are distinct") {
  struct state {
    std::vector<std::shared_ptr<tensor>> all;
    std::shared_ptr<std::array<float, 8>> viewed;
    std::vector<cairn::tensor_view<float>> views;  // memory in a shared object
    struct {
    } nothing;
  };
  struct empty {};
  const auto pool = std::make_shared<std::vector<tensor>>(3);
  state original;
  for (auto& each : *pool) original.all.emplace_back(pool, &each);
  (*pool)[1].values = {4, 5};
  original.viewed = std::make_shared<std::array<float, 8>>();
  original.views.emplace_back(original.viewed->data(), cairn::extents{8});
  original.views.emplace_back(original.viewed->data(), cairn::extents{5});
  original.views.emplace_back(original.viewed->data() + 2, cairn::extents{4});
  original.views.emplace_back(original.viewed->data() + 1, cairn::extents{3}, std::vector<std::int64_t>{2});
  const tests::kept kept(original);
  (*pool)[1].values = {0, 0};
  kept.load(original);
  CHECK((*pool)[1].values == std::vector<float>{4, 5});
}

struct counted {
  int value = 0;
};
struct returns {  // a deleter that must not be given what the load makes
  std::vector<counted*>* to = nullptr;
  void operator()(counted* object) const { to->push_back(object); }
};
struct pooled {
  std::unique_ptr<counted, returns> pointer;
  int after = 0;
};

TEST_CASE("a deleter of one's own gets no object that the load made") {
  std::vector<counted*> returned;
  counted mine{7};
  pooled full{{&mine, returns{&returned}}, 1}, null{{nullptr, returns{&returned}}, 2};
  const tests::kept with(full), without(cairn::detail::describe(null));

  counted other{1};
  pooled target{{&other, returns{&returned}}, 0};
  with.load(target);  // in place
  CHECK(target.pointer.get() == &other);
  CHECK(other.value == 7);
  CHECK(returned.empty());

  without.load(target);
  CHECK(target.pointer == nullptr);
  CHECK(target.after == 2);
  CHECK(returned == std::vector<counted*>{&other});
  without.load(target);  // null over null
  CHECK(returned.size() == 1);

  CHECK_THROWS_WITH(with.load(target),
                    ContainsSubstring("pointer has to be made by the load but its pointer has a deleter of its own; "
                                      "make it before the load"));
  CHECK(target.pointer == nullptr);
  CHECK(target.after == 2);
  CHECK(returned.size() == 1);
}

TEST_CASE("an object behind a pointer to const is replaced, not written") {
  struct state {
    std::unique_ptr<const tensor> alone;
    std::shared_ptr<const tensor> a;
    std::shared_ptr<tensor> b;
    std::weak_ptr<const tensor> c;
    std::shared_ptr<const layer> any;
  };
  state original;
  original.alone = std::make_unique<tensor>(tensor{{1, 2}});
  original.a = original.b = std::make_shared<tensor>(tensor{std::vector<float>(50000, 0.5F)});
  original.c = original.a;
  original.any = std::make_shared<dropout>();
  const tests::kept kept(original);

  state fresh;
  kept.load(fresh);
  CHECK(fresh.alone->values == std::vector<float>{1, 2});
  CHECK(fresh.a->values == original.a->values);
  CHECK(fresh.b == fresh.a);
  CHECK(fresh.c.lock() == fresh.a);
  CHECK(dynamic_cast<const dropout*>(fresh.any.get()));

  const state before{nullptr, fresh.a, nullptr, {}, fresh.any};
  const_cast<tensor&>(*before.a).values[0] = 9;  // created as not const
  kept.load(fresh);
  CHECK(fresh.a != before.a);
  CHECK(fresh.any != before.any);
  CHECK(before.a->values[0] == 9);
  CHECK(fresh.a->values[0] == 0.5F);
  CHECK(fresh.b == fresh.a);
  CHECK(fresh.c.lock() == fresh.a);
}

TEST_CASE("a const object is replaced as a whole or not at all") {
  struct pair {
    int x = 0, y = 0;
  };
  struct state {
    std::unique_ptr<const pair> alone;
    std::shared_ptr<const pair> shared;
    int other = 0;
  };
  const auto made = [](int value) {
    return state{std::make_unique<pair>(pair{value, value}), std::make_shared<pair>(pair{value, value}), value};
  };
  const tests::kept kept(made(1));
  state target = made(2);
  const auto* const before = target.alone.get();
  cairn::detail::match_options options;
  options.filter = [](std::string_view path) { return !path.ends_with(".x"); };
  CHECK_THROWS_WITH(kept.load(target, options),
                    ContainsSubstring("alone is const, so that it can only be replaced as a whole") &&
                        ContainsSubstring("shared is const"));
  options.filter = [](std::string_view path) { return path == "other"; };
  kept.load(target, options);
  CHECK(target.other == 1);
  CHECK(target.alone.get() == before);
  CHECK(target.shared->y == 2);

  struct less {
    int other = 3;
  };
  options = {};
  options.strict = false;
  tests::kept(less{}).load(target, options);
  CHECK(target.other == 3);
  CHECK(target.alone.get() == before);
  CHECK(target.shared->y == 2);
}

TEST_CASE("a class is loaded by the names that its list gives it, and by the one that it has without") {
  using entry = cairn::detail::structure_entry;
  const std::unique_ptr<layer> original = std::make_unique<block>();
  tests::kept kept(original);
  CHECK(kept.contents.structure.at("value") == entry{.what = entry::kind::type, .text = "block"});
  for (const char* name : {"block", "old::block", "{anonymous}::block", "(anonymous namespace)::block"}) {
    kept.contents.structure.at("value").text = name;
    std::unique_ptr<layer> fresh;
    kept.load(fresh);
    CHECK(dynamic_cast<block*>(fresh.get()));
  }
  kept.contents.structure.at("value").text = "older::blocks";
  std::unique_ptr<layer> fresh;
  CHECK_THROWS_WITH(kept.load(fresh), ContainsSubstring("value is a 'older::blocks'") &&
                                          ContainsSubstring("cairn::named<\"name\", class, \"older::blocks\">"));
}

TEST_CASE("a pointer to a class becomes one to its base class, and back") {
  std::unique_ptr<block> original = std::make_unique<block>();
  original->weight = {1, 2};
  const tests::kept exact(original);
  std::unique_ptr<layer> target;
  CHECK_THROWS_WITH(exact.load(target), ContainsSubstring("value has no type in the checkpoint") &&
                                            ContainsSubstring("make the object before the load"));
  target = std::make_unique<block>();
  exact.load(target);
  CHECK(dynamic_cast<block&>(*target).weight == std::vector<float>{1, 2});

  const tests::kept listed(target);
  original.reset();
  listed.load(original);
  REQUIRE(original);
  CHECK(original->weight == std::vector<float>{1, 2});
}

TEST_CASE("a vector of objects with a virtual base class comes back, large or small") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{20000}}) {
    std::vector<tied> original(size), fresh(size / 2);
    for (std::size_t i = 0; i < size; ++i) original[i].id = static_cast<int>(i);
    CHECK(tests::comes_back(original, fresh));
  }
}

TEST_CASE("an object of a class that is not listed is replaced, also where others are searched for overlaps") {
  struct not_listed : layer {};
  struct state {
    std::unique_ptr<layer> own;
    std::shared_ptr<layer> shared;
    std::vector<float> grows;
  };
  state original{std::make_unique<dense>(), std::make_shared<dense>(), std::vector<float>(100)};
  static_cast<dense&>(*original.own).weight = {1, 2};
  state into{std::make_unique<not_listed>(), std::make_shared<not_listed>(), {1}};
  CHECK(tests::comes_back(original, into));
  CHECK(dynamic_cast<dense&>(*into.own).weight == std::vector<float>{1, 2});
}

TEST_CASE("an object that only weak_ptr of the state lead to is saved; a load into an empty state does not keep it") {
  struct watching {
    std::weak_ptr<tensor> watched;
    int step = 0;
  };
  const auto elsewhere = std::make_shared<tensor>(tensor{{1, 2}});
  const watching original{elsewhere, 7};
  const tests::kept kept(original);
  CHECK(kept.paths() == "step watched.values");
  watching empty;
  kept.load(empty);
  CHECK(empty.step == 7);
  CHECK(empty.watched.expired());
  const auto owned = std::make_shared<tensor>();
  watching held{owned, 0};
  kept.load(held);
  CHECK(owned->values == std::vector<float>{1, 2});
  CHECK(held.watched.lock() == owned);
}

struct weight {
  int value = 0;
};
struct const_second {
  std::shared_ptr<weight> b;
  std::shared_ptr<const weight> a;
};
struct const_first {
  std::shared_ptr<const weight> a;
  std::shared_ptr<weight> b;
};

TEMPLATE_TEST_CASE("an object that some pointers see as const is written through another one only", "", const_second,
                   const_first) {
  const bool is_written = std::is_same_v<TestType, const_second>;  // by a pointer before that to const
  TestType original;
  original.b = std::make_shared<weight>(weight{1});
  original.a = original.b;
  auto old = std::make_shared<weight>(weight{7});
  TestType loaded;
  loaded.a = old;
  loaded.b = old;
  tests::kept(original).load(loaded);
  CHECK(old->value == (is_written ? 1 : 7));
  CHECK(loaded.b->value == 1);
  CHECK(loaded.a == loaded.b);

  original.a = std::make_shared<weight>(weight{2});  // two objects in the checkpoint
  loaded.a = old;
  loaded.b = old;
  const auto report = tests::kept(original).load(loaded);
  CHECK(loaded.b == old);
  CHECK(loaded.b->value == 1);
  CHECK(loaded.a->value == 2);
  CHECK(report.loaded.size() == 2);

  old = std::make_shared<weight>(weight{5});
  original.a = original.b;
  loaded.a = old;
  loaded.b = std::make_shared<weight>(weight{6});
  tests::kept(original).load(loaded);
  CHECK(old->value == 5);
  CHECK(loaded.a == loaded.b);
  CHECK(loaded.a->value == 1);
}

TEST_CASE("an object of a file without structure is loaded also after a pointer to const has left it") {
  const_first original;
  original.a = std::make_shared<weight>(weight{1});
  original.b = std::make_shared<weight>(weight{2});
  tests::kept kept(original);
  kept.contents.has_structure = false;  // a file of another program
  kept.contents.structure.clear();
  const auto old = std::make_shared<weight>(weight{7});
  const_first into{old, old};
  kept.load(into);
  CHECK(into.a->value == 1);
  CHECK(into.b == old);
  CHECK(into.b->value == 2);
}

struct parameter {
  std::vector<float> value;
  std::shared_ptr<parameter> tied;
};
struct network {
  std::shared_ptr<parameter> w, b;
};
struct optimizer {
  std::vector<std::shared_ptr<parameter>> all;
  std::weak_ptr<parameter> last;
};
struct model_first {
  network model;
  optimizer adam;
};
struct optimizer_first {
  optimizer adam;
  network model;
};
struct optimizer_alone {
  optimizer adam;
  using cairn_changes = cairn::removed<"model">;
};

model_first sharing() {
  model_first saved;
  saved.model.w = std::make_shared<parameter>(parameter{{1, 2}, nullptr});
  saved.model.b = std::make_shared<parameter>(parameter{{3}, saved.model.w});
  saved.adam = {{saved.model.b, saved.model.w, saved.model.b}, saved.model.w};
  return saved;
}

}  // namespace

TEST_CASE("members that share objects may change places, and the first owner may have gone") {
  const tests::kept kept(cairn::detail::describe(sharing()));
  for (const bool is_filled : {false, true}) {
    optimizer_first now;
    if (is_filled) now = {sharing().adam, sharing().model};
    const auto report = kept.load(now);
    REQUIRE(now.adam.all.size() == 3);
    CHECK((now.adam.all[0] == now.model.b && now.adam.all[1] == now.model.w && now.adam.all[2] == now.model.b));
    CHECK((now.model.b->tied == now.model.w && now.adam.last.lock() == now.model.w));
    CHECK((now.model.w->value == std::vector<float>{1, 2} && now.model.b->value == std::vector<float>{3}));
    CHECK((report.missing.empty() && report.unexpected.empty()));
    tests::kept again(now);
    model_first back;
    again.load(back);
    CHECK((back.model.b == back.adam.all[0] && back.model.w == back.adam.all[1] && back.model.b->tied == back.model.w));
    CHECK(kept == tests::kept(back));
  }
  optimizer_alone alone;
  CHECK(kept.load(alone).unexpected.empty());
  CHECK((alone.adam.all[0] == alone.adam.all[2] && alone.adam.all[0]->tied == alone.adam.all[1]));
  CHECK(alone.adam.all[1]->value == std::vector<float>{1, 2});
}

TEST_CASE("a shared object whose owners changed places is not loaded into two objects") {
  struct plain_network {
    std::unique_ptr<parameter> w;
    std::shared_ptr<parameter> b;
  };
  struct {
    optimizer adam;
    plain_network model;
  } now;
  const auto failure = sample::failure_of([&] { tests::kept(sharing()).load(now); });
  CHECK(failure.code == cairn::errc::mismatch);
  CHECK(failure.says("which only shared pointers can share"));
}
