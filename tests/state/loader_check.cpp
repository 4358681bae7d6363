// SPDX-License-Identifier: MIT
#include "cairn/state/loader.hpp"

#include "catch.hpp"
#include "state/refuses.hpp"

namespace {

struct weights {
  std::vector<float> w;
};

struct versioned {
  int m = 2;
  static constexpr unsigned cairn_version = 1;
};

enum class colour : std::uint8_t { red };

struct migrated {
  int sum = 0;
  static constexpr unsigned cairn_version = 1;
  using cairn_changes = cairn::since<1, "sum">;
  void cairn_migrate(cairn::stored_parts& old) {
    sum = old.get<std::vector<int>>("all").at(0);
    sum += old.get<std::vector<int>>("all").at(1);
  }
};

}  // namespace

template <>
struct cairn::by_name<colour> : cairn::enumerators<colour::red> {};

namespace {

/// The whole message of a load that is refused.
template <class Into, class Saved>
std::string refusal(const Saved& saved) {
  Into into{};
  const tests::kept kept(saved);
  try {
    kept.load(into);
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::mismatch);
    return error.what();
  }
  return "loaded";
}

const std::string begin = "cairn: kept does not fit the state: ";
const std::string end = ". Nothing was changed";

}  // namespace

TEST_CASE("an object that several pointers share is not loaded into two") {
  struct shared {
    std::shared_ptr<weights> a, b;
  } saved;
  saved.a = saved.b = std::make_shared<weights>(weights{{1, 2}});
  struct alone {
    std::unique_ptr<weights> a, b;
  };
  struct plain {
    weights a, b;
  };
  struct maybe {
    std::optional<weights> a, b;
  };
  struct first_alone {
    std::unique_ptr<weights> a;
    std::shared_ptr<weights> b;
  };
  const std::string advice =
      "b is the object at a in the checkpoint, which only shared pointers can share; make both std::shared_ptr, or "
      "leave "
      "it out with filter";
  CHECK(refusal<alone>(saved) == begin + advice + end);
  CHECK(refusal<plain>(saved) == begin + advice + end);
  CHECK(refusal<maybe>(saved) == begin + advice + end);
  CHECK(refusal<first_alone>(saved) ==
        begin +
            "b shares the object at a in the checkpoint, which no shared pointer loads; make that one a "
            "std::shared_ptr and let the filter select it, or leave this one out with filter" +
            end);
  struct other_order {
    std::shared_ptr<weights> b, a;
  } reordered;
  const auto same = [](std::string_view path) { return std::string(path); };
  tests::refuses(cairn::detail::describe(saved), reordered, cairn::errc::mismatch,
                 "load without rename, or keep the order of the members", {.rename = same, .filter = {}});
  plain into{{{7}}, {{8}}};
  const auto report =
      tests::kept(saved).load(into, {.strict = false, .rename = {}, .filter = {}, .reshape = tests::any_size.reshape});
  CHECK(into.a.w == std::vector<float>{1, 2});
  CHECK(into.b.w == std::vector<float>{8});
  CHECK(report.missing == std::vector<std::string>{"b"});
  CHECK(report.unexpected.empty());
}

TEST_CASE("shared arrays and numbers are loaded into ones that are not shared") {
  struct shared {
    std::shared_ptr<std::vector<int>> a, b;
  } saved;
  saved.a = saved.b = std::make_shared<std::vector<int>>(2, 5);
  struct {
    std::vector<int> a, b;
  } plain;
  struct {
    std::unique_ptr<std::vector<int>> a;
    std::optional<std::vector<int>> b;
  } alone;
  const tests::kept kept(saved);
  kept.load(plain);
  CHECK(plain.b == std::vector<int>{5, 5});
  kept.load(alone);
  CHECK(alone.b == std::vector<int>{5, 5});
}

TEST_CASE("an array is another kind of object than one that has parts, and the reverse") {
  struct numbers {
    std::vector<float> x{1};
  };
  struct texts {
    std::vector<std::string> x{"a"};
  };
  struct record {
    weights x{{1}};
  };
  struct records {
    std::vector<weights> x{{}};
  };
  struct table {
    std::map<int, float> x{{1, 2}};
  };
  const std::string said = begin + "x is another kind of object in the checkpoint; leave it out with filter" + end;
  CHECK(refusal<texts>(numbers()) == said);
  CHECK(refusal<record>(numbers()) == said);
  CHECK(refusal<records>(numbers()) == said);
  CHECK(refusal<table>(numbers()) == said);
  CHECK(refusal<numbers>(texts()) == said);
  CHECK(refusal<numbers>(record()) == said);
  CHECK(refusal<numbers>(table()) == said);
}

TEST_CASE("an object that only the checkpoint has is listed once, without its parts") {
  struct part {
    std::unique_ptr<weights> w;
    int n = 1;
  };
  struct saved {
    std::optional<part> a;
    std::vector<part> list;
    std::map<std::string, part> map;
    part record;
    versioned v;
    colour c = colour::red;
    int last = 5;
  };
  struct fewer {
    int last = 0;
  };
  saved all;
  all.a = part{std::make_unique<weights>(), 1};
  all.list.resize(2);
  all.list[1].w = std::make_unique<weights>();
  all.map["k"].n = 3;
  all.record.w = std::make_unique<weights>();
  const tests::kept kept(all);
  const std::vector<std::string> paths{"a", "c", "list", "map", "record.n", "record.w", "v"};
  fewer into;
  const auto report = kept.load(into, {.strict = false, .rename = {}, .filter = {}});
  CHECK(report.unexpected == paths);
  CHECK(into.last == 5);
  std::string said = "cairn: kept does not fit the state: ";
  for (const auto& path : paths)
    said += path + " is in the checkpoint but not in the state" + (path == "v" ? ". " : "; ");
  CHECK(refusal<fewer>(all) ==
        said + "Nothing was changed; load with strict = false to leave out what only one side has");
}

TEST_CASE("what is used of an object is not listed, and its other parts are") {
  struct saved {
    std::vector<std::optional<int>> list{1, 2, 3};
    std::optional<weights> a{{{1}}};
  };
  struct {
    std::optional<int> second;
  } into;
  const auto report = tests::kept(saved()).load(
      into, {.strict = false, .rename = [](std::string_view) { return std::string("list.1"); }, .filter = {}});
  CHECK(into.second == 2);
  CHECK(report.unexpected == std::vector<std::string>{"a", "list", "list.0", "list.2"});
}

TEST_CASE("a path that several parts of the state are loaded from is listed once") {
  struct saved {
    std::vector<float> w{1, 2};
  };
  struct {
    std::vector<double> a{1}, b{2};
  } into;
  const auto to_w = [](std::string_view) { return std::string("w"); };
  const auto report = tests::kept(saved()).load(
      into, {.rename = to_w, .filter = {}, .convert = cairn::conversion::widening, .reshape = tests::any_size.reshape});
  CHECK(into.b == std::vector<double>{1, 2});
  CHECK(report.loaded == std::vector<std::string>{"w"});
  CHECK(report.converted == std::vector<std::string>{"w"});
  CHECK(report.resized == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a path that a migration reads several times is listed once") {
  struct before {
    std::vector<int> all{1, 2};
  };
  migrated into;
  const auto report = tests::kept(before()).load(into);
  CHECK(into.sum == 3);
  CHECK(report.loaded == std::vector<std::string>{"all"});
}
