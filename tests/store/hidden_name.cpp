#include "cairn/store/hidden_name.hpp"

#include <set>
#include <string>

#include "catch.hpp"

using namespace cairn::stores::detail;

TEST_CASE("a hidden name leads back to the checkpoint, also without an attempt, as older versions wrote it") {
  for (const std::string name : {"step-000000120", "best", "a.b", "a.0123456789abcdef"}) {
    const auto hidden = hidden_name(replaced_prefix, name, new_attempt("0a1b2c3d"));
    CHECK(hidden.size() == name.size() + 22);
    CHECK(hidden_checkpoint(hidden, replaced_prefix) == name);
    CHECK(hidden_checkpoint(hidden, temporary_prefix).empty());
    CHECK(hidden_checkpoint(name, replaced_prefix).empty());
  }
  CHECK(hidden_checkpoint(".tmp-step-000000120", temporary_prefix) == "step-000000120");
  CHECK(hidden_checkpoint(".tmp-a.0123456789abcdeF", temporary_prefix) == "a.0123456789abcdeF");
}

TEST_CASE("attempts differ") {
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) all.insert(new_attempt("0a1b2c3d"));
  CHECK(all.size() == 1000);
  for (const auto& each : all) CHECK(each.starts_with("0a1b2c3d"));
  CHECK(new_attempt("").starts_with("00000000"));
}

TEST_CASE("the attempt in a name") {
  CHECK(attempt_of(".tmp-a.0123456789abcdef") == "0123456789abcdef");
  for (const std::string name :
       {"", ".tmp-a", ".0123456789abcdef", ".tmp-a.0123456789abcdeF", ".tmp-a.0123456789abcde"})
    CHECK(attempt_of(name).empty());
}
