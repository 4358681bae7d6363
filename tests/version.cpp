// SPDX-License-Identifier: MIT
#include "cairn/version.hpp"

#include <string>

#include "catch.hpp"

TEST_CASE("the version's text and numbers agree") {
  CHECK(std::string(CAIRN_VERSION) == std::to_string(CAIRN_VERSION_MAJOR) + "." + std::to_string(CAIRN_VERSION_MINOR) +
                                          "." + std::to_string(CAIRN_VERSION_PATCH));
}
