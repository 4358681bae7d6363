#include "cairn/store/chain_metadata.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("a parent reads back as it was written") {
  const cairn::detail::checkpoint_ref parent{"step-000000120", 0x0123456789abcdefU};
  CHECK(cairn::detail::write_parent(parent) == R"({"name":"step-000000120","id":"0123456789abcdef"})");
  CHECK(cairn::detail::read_parent(cairn::detail::write_parent(parent), "here") == parent);
}

TEST_CASE("a malformed parent is refused") {
  for (const auto* bad :
       {R"({})", R"({"name":"a"})", R"({"id":"0123456789abcdef"})", R"({"name":"../a","id":"0123456789abcdef"})",
        R"({"name":"","id":"0123456789abcdef"})", R"({"name":"a","id":"0123"})", R"({"name":"a","id":7})",
        R"({"name":"a","id":"0123456789abcdef","more":"b"})", R"({"name":{},"id":"0123456789abcdef"})", "null"}) {
    INFO(bad);
    const auto failure = sample::failure_of([&] { static_cast<void>(cairn::detail::read_parent(bad, "here")); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

TEST_CASE("code tables read back as they were written") {
  const std::map<std::string, std::string, std::less<>> tables{{"0123456789abcdef", std::string(256, '1')},
                                                               {"ff", std::string(256, '2')}};
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
