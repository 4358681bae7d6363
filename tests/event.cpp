#include "cairn/event.hpp"

#include <set>
#include <stdexcept>
#include <string>

#include "catch.hpp"

using kind = cairn::event::kind;

TEST_CASE("every kind of event has a name of its own") {
  std::set<std::string_view> names;
  for (const auto what :
       {kind::started, kind::progress, kind::published, kind::failed, kind::restored, kind::fell_back, kind::pruned})
    names.insert(cairn::name(what));
  CHECK(names.size() == 7);
  CHECK_FALSE(names.contains("unknown"));
  CHECK(cairn::name(static_cast<kind>(200)) == "unknown");
}

TEST_CASE("an observer gets the event; none, or one that throws, disturbs nobody") {
  std::string heard;
  cairn::detail::tell([&](const cairn::event& e) { heard = e.message; }, {.what = kind::failed, .message = "m"});
  CHECK(heard == "m");
  CHECK_NOTHROW(cairn::detail::tell({}, {}));
  CHECK_NOTHROW(cairn::detail::tell([](const cairn::event&) { throw std::runtime_error("no"); }, {}));
  CHECK_NOTHROW(cairn::detail::tell([](const cairn::event&) { throw 1; }, {}));
}
