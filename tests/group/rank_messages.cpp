// SPDX-License-Identifier: MIT
#include "cairn/group/team.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace cairn::detail;

namespace {

TEST_CASE("a failure reads back with its rank") {
  for (int code = 0; code <= static_cast<int>(cairn::errc::lost_rank); ++code)
    for (const bool has_changed : {false, true}) {
      cairn::error failure(static_cast<cairn::errc>(code), "the disk is full");
      if (has_changed) failure = failure.after_change();
      const auto text = write_failure(failure);
      CHECK(text.size() == failure_head + failure.sentence().size());
      for (const auto& sent : {text, text + std::string(5, '\0')}) {
        const auto read = read_failure(sent, 3);
        CHECK(read.code() == failure.code());
        CHECK(read.state_changed() == has_changed);
        CHECK(read.what() == std::string("cairn: rank 3: the disk is full"));
      }
    }
}

TEST_CASE("a damaged message of a failure is an error of its rank") {
  for (const std::string text : {"", "a", "z text", "A text", "\xff text"}) {
    const auto read = read_failure(text, 7);
    CHECK(read.code() == cairn::errc::corrupt);
    CHECK_THAT(read.what(), ContainsSubstring("rank 7: ") && ContainsSubstring("damaged"));
  }
}

TEST_CASE("records of texts of any length read back") {
  const std::vector<std::string> texts{"", "one", std::string("\0x", 2), "the longest"};
  std::string all;
  for (const auto& each : texts) all += write_record(each, texts.back().size());
  CHECK(read_records(std::as_bytes(std::span(all)), 4) == texts);
}

TEST_CASE("a damaged record names its rank") {
  auto all = write_record("first", 5) + write_record("next", 5);
  all[13] = 6;  // the size of the second one, which begins at byte 13
  CHECK_THROWS_WITH(read_records(std::as_bytes(std::span(all)), 2),
                    ContainsSubstring("rank 1: its record of 13 bytes"));
  all[13] = '\xff';
  all[20] = '\xff';
  CHECK_THROWS_WITH(read_records(std::as_bytes(std::span(all)), 2), ContainsSubstring("rank 1"));
  CHECK_THROWS_WITH(read_records(std::as_bytes(std::span(all)).first(7), 1), ContainsSubstring("rank 0"));
}

}  // namespace
