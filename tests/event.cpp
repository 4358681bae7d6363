// SPDX-License-Identifier: MIT
#include "cairn/event.hpp"

#include <set>
#include <stdexcept>
#include <string>

#include "catch.hpp"

using kind = cairn::event::kind;

TEST_CASE("every kind of event has a name of its own") {
  std::set<std::string_view> names;
  const auto count = static_cast<std::uint8_t>(kind::unmatched) + 1U;
  for (unsigned what = 0; what < count; ++what) names.insert(cairn::name(static_cast<kind>(what)));
  CHECK(names.size() == count);
  CHECK_FALSE(names.contains("unknown"));
  CHECK(cairn::name(static_cast<kind>(200)) == "unknown");
}

TEST_CASE("an observer gets the event; none, or one that throws, disturbs nobody") {
  std::string heard;
  cairn::detail::notify([&](const cairn::event& e) { heard = e.message; }, {.what = kind::failed, .message = "m"});
  CHECK(heard == "m");
  CHECK_NOTHROW(cairn::detail::notify({}, {}));
  CHECK_NOTHROW(cairn::detail::notify([](const cairn::event&) { throw std::runtime_error("no"); }, {}));
  CHECK_NOTHROW(cairn::detail::notify([](const cairn::event&) { throw 1; }, {}));
}
