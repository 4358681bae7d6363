#include "cairn/core/error.hpp"

#include "catch.hpp"

TEST_CASE("an error carries its code and a sentence that says whose it is") {
  try {
    cairn::fail(cairn::errc::mismatch, {"w", " is F32"});
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::mismatch);
    CHECK(std::string(error.what()) == "cairn: w is F32");
    return;
  }
  FAIL("nothing was thrown");
}

TEST_CASE("an error of the system names action, file and cause") {
  try {
    cairn::fail_io("write", "a/b", ENOSPC);
  } catch (const cairn::error& error) {
    CHECK(error.code() == cairn::errc::io);
    CHECK(std::string(error.what()) == "cairn: cannot write a/b: No space left on device");
    return;
  }
  FAIL("nothing was thrown");
}
