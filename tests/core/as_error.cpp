// SPDX-License-Identifier: MIT
#include "cairn/core/as_error.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include "catch.hpp"

namespace {

template <class Thrown>
cairn::error converted(const Thrown& thrown) {
  return cairn::detail::as_error(std::make_exception_ptr(thrown), {"run/a"});
}

}  // namespace

TEST_CASE("any exception becomes an error that says where; one of Cairn's stays as it is") {
  const auto ours = converted(cairn::error(cairn::errc::corrupt, "b"));
  CHECK(ours.code() == cairn::errc::corrupt);
  CHECK(ours.sentence() == "b");
  CHECK(converted(std::bad_alloc()).code() == cairn::errc::no_memory);
  CHECK(converted(std::bad_alloc()).sentence() == "run/a: not enough memory");
  CHECK(converted(std::length_error("at most 4")).code() == cairn::errc::invalid);
  CHECK(converted(std::length_error("at most 4")).sentence() == "run/a: at most 4");
  CHECK(converted(std::system_error(std::make_error_code(std::errc::no_space_on_device), "b")).code() ==
        cairn::errc::io);
  CHECK(converted(std::runtime_error("c")).code() == cairn::errc::invalid);
  CHECK(converted(std::runtime_error("c")).sentence() == "run/a: c");
  CHECK(converted(42).code() == cairn::errc::invalid);
  CHECK(converted(42).sentence() == "run/a: something was thrown that is no std::exception");
}

TEST_CASE("a call gives its result, and throws only errors") {
  CHECK(cairn::detail::with_errors("run/a", [] { return 7; }) == 7);
  try {
    cairn::detail::with_errors("run/a", [] { throw 42; });
    FAIL("nothing was thrown");
  } catch (const cairn::error& failure) {
    CHECK(failure.code() == cairn::errc::invalid);
    CHECK(failure.sentence() == "run/a: something was thrown that is no std::exception");
  }
}
