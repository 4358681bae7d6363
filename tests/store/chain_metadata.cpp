// SPDX-License-Identifier: MIT
#include "cairn/store/shard_metadata.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

namespace {
cairn::detail::checkpoint_ref read_parent(std::string_view text) {
  cairn::detail::checkpoint_ref parent;
  cairn::detail::read_json(text, "here", cairn::detail::parent_form(parent));
  return parent;
}
}  // namespace

TEST_CASE("a parent reads back as it was written") {
  const cairn::detail::checkpoint_ref parent{"step-000000120", 0x0123456789abcdefU};
  cairn::detail::json_writer json;
  cairn::detail::write_parent(json, parent);
  const auto text = json.take();
  CHECK(text == R"({"name":"step-000000120","id":"0123456789abcdef"})");
  CHECK(read_parent(text) == parent);
}

TEST_CASE("a malformed parent is refused") {
  for (const auto* bad :
       {R"({})", R"({"name":"a"})", R"({"id":"0123456789abcdef"})", R"({"name":"../a","id":"0123456789abcdef"})",
        R"({"name":"","id":"0123456789abcdef"})", R"({"name":"a","id":"0123"})", R"({"name":"a","id":7})",
        R"({"name":"a","id":"0123456789abcdef","more":"b"})", R"({"name":{},"id":"0123456789abcdef"})", "null"}) {
    INFO(bad);
    const auto failure = sample::failure_of([&] { static_cast<void>(read_parent(bad)); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

TEST_CASE("code tables read back as they were written") {
  const cairn::detail::stored_tables tables{{"0123456789abcdef", std::string(256, '1')}, {"ff", std::string(256, '2')}};
  CHECK(cairn::detail::read_tables(cairn::detail::write_tables(tables), "here") == tables);
  CHECK(cairn::detail::read_tables("{}", "here").empty());
  CHECK(sample::failure_of([] { static_cast<void>(cairn::detail::read_tables(R"({"a":1})", "here")); }).code ==
        cairn::errc::corrupt);
  CHECK(sample::failure_of([] { static_cast<void>(cairn::detail::read_tables(R"({"a":{}})", "here")); }).code ==
        cairn::errc::corrupt);
  CHECK(sample::failure_of([] {
          static_cast<void>(cairn::detail::read_tables(R"({"a":"0"})", "here"));
        }).says("not 256 digits"));
}
