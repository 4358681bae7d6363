// SPDX-License-Identifier: MIT
#include "cairn/store/checkpoint_directory.hpp"

#include <set>
#include <string>

#include "catch.hpp"

using namespace cairn::stores::detail;

TEST_CASE("a hidden name leads back to the checkpoint, and names of others to none") {
  for (const std::string name : {"step-000000120", "best", "a.b", "a.0123456789abcdef"}) {
    const auto hidden = hidden_name(name, new_attempt("0a1b2c3d", "4e5f6071"));
    CHECK(hidden.size() == name.size() + 30);
    CHECK(hidden_checkpoint(hidden) == name);
    CHECK(hidden_checkpoint(name).empty());
  }
  CHECK(hidden_checkpoint(".tmp-step-000000120").empty());
  CHECK(hidden_checkpoint(".tmp-a.0123456789abcdef0123456F").empty());
}

TEST_CASE("attempts differ") {
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) all.insert(new_attempt("0a1b2c3d", "4e5f6071"));
  CHECK(all.size() >= 999);  // two of 1,000 numbers of 32 bits are equal once in 9,000 times
  for (const auto& each : all) CHECK(each.starts_with("0a1b2c3d4e5f6071"));
  CHECK(new_attempt("", "").starts_with("0000000000000000"));
  CHECK(new_attempt("", "4e5f6071").starts_with("000000004e5f6071"));
}

TEST_CASE("the attempt in a name") {
  CHECK(attempt_of(".tmp-a.0123456789abcdef01234567") == "0123456789abcdef01234567");
  CHECK(attempt_of(".tmp-a.0123456789abcdef0123456").empty());
  for (const std::string name :
       {"", ".tmp-a", ".0123456789abcdef01234567", ".tmp-a.0123456789abcdef0123456F", ".tmp-a.0123456789abcdef"})
    CHECK(attempt_of(name).empty());
}

TEST_CASE("the writer in an attempt") {
  CHECK(writer_of(new_attempt("0a1b2c3d", "4e5f6071")) == "0a1b2c3d4e5f6071");
  CHECK(writer_of(new_attempt("0a1b2c3d", "")).empty());
  CHECK(writer_of("").empty());
}
