#include "cairn/state/checker.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "state/kept.hpp"
#include "state/refuses.hpp"

namespace {

struct weights {
  std::vector<float> w;
};

/// The whole message of a load that is refused.
template <class Into, class Saved>
std::string refusal(const Saved& saved) {
  Into into{};
  const tests::kept kept(cairn::detail::describe(saved));
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
  plain into{{{7}}, {{8}}};
  const auto report =
      tests::kept(cairn::detail::describe(saved)).load(into, {.strict = false, .rename = {}, .filter = {}});
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
  const tests::kept kept(cairn::detail::describe(saved));
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
