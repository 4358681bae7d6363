// SPDX-License-Identifier: MIT
#include "cairn/state/words.hpp"

#include "catch.hpp"
#include "state/kept.hpp"

namespace old_parts {

struct layer {
  std::vector<float> weight;
  std::string name;
};
struct row {
  float a = 0;
};
struct table {
  std::vector<row> rows;
};
struct net {
  std::vector<layer> layers;
  std::map<std::string, std::vector<std::string>> tags;
  std::unique_ptr<int> seed;
  bool flags[2] = {};
};

}  // namespace old_parts

namespace new_parts {

/// Reads parts of every kind.
struct net {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> labels;
  int seed = 0;
  bool first = false, has_tags = false, has_labels = false;
  std::unique_ptr<int> made = std::make_unique<int>(1);
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "names", "labels", "seed", "first", "has_tags", "has_labels", "made">;
  void cairn_migrate(cairn::stored_parts& old) {
    has_tags = old.has("tags");
    has_labels = old.has("labels");
    for (const auto& each : old.get<std::vector<old_parts::layer>>("layers"))
      names.push_back(each.name + std::to_string(each.weight.size()));
    old.load("tags", labels);
    seed = *old.get<std::unique_ptr<int>>("seed");
    first = old.get<std::array<bool, 2>>("flags")[0];
  }
};

/// Ends like a function that catches all exceptions.
struct careless {
  std::vector<float> weight;
  int id = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "id">;
  void cairn_migrate(cairn::stored_parts& old) {
    try {
      id = old.get<int>("number");
    } catch (...) {
      id = -1;
    }
  }
};

/// Its rows are not of fixed layout any more, so that they are stored one by one.
struct named_row {
  float a = 0;
  std::string name;
};
struct table {
  std::vector<named_row> rows;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "rows">;
  void cairn_migrate(cairn::stored_parts& old) {
    rows.clear();
    for (const auto& each : old.get<std::vector<old_parts::row>>("rows")) rows.push_back({each.a, "new"});
  }
};

struct row {
  float a = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "a">;
  void cairn_migrate(cairn::stored_parts& old) { a = static_cast<float>(old.get<std::string>("b").size()); }
};

}  // namespace new_parts

TEST_CASE("a migration reads parts of any type") {
  old_parts::net old;
  old.layers = {{{1, 2}, "a"}, {{3}, "b"}};
  old.tags = {{"x", {"y", "z"}}};
  old.seed = std::make_unique<int>(7);
  old.flags[0] = true;
  new_parts::net now;
  tests::kept(old).load(now);
  CHECK(now.names == std::vector<std::string>{"a2", "b1"});
  CHECK(now.labels == old.tags);
  CHECK(now.seed == 7);
  CHECK(now.first);
  CHECK(now.has_tags);
  CHECK_FALSE(now.has_labels);
}

TEST_CASE("a part that is not there is missing even if the migration catches the exception") {
  struct old {
    std::vector<float> weight = {1, 2};
  };
  new_parts::careless now{{3}, 4};
  const tests::kept kept(old{});
  CHECK_THROWS_WITH(kept.load(now), ContainsSubstring("number is missing in the checkpoint"));
  const auto report = kept.load(now, {.strict = false, .rename = {}, .filter = {}});
  CHECK(report.missing == std::vector<std::string>{"number"});
  CHECK(now.weight == std::vector<float>{3});
  CHECK(now.id == 4);
}

TEST_CASE("parts of an element of a column are of fixed layout") {
  struct old {
    int b = 0;
  };
  std::vector<new_parts::row> now(2);
  const std::vector<old> rows(3);
  CHECK_THROWS_WITH(tests::kept(rows).load(now),
                    ContainsSubstring("cairn_migrate reads b as a type that is not of fixed layout"));
  CHECK(now.size() == 2);
}

TEST_CASE("a vector that was stored in columns is read as such") {
  new_parts::table now{{{5, "a"}}};
  tests::kept(old_parts::table{{{1}, {2}}}).load(now);
  REQUIRE(now.rows.size() == 2);
  CHECK(now.rows[1].a == 2);
  CHECK(now.rows[1].name == "new");
}
