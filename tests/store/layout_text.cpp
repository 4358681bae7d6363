// SPDX-License-Identifier: MIT
#include "cairn/store/leaf_text.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn::detail;

// tests/store/layout.cpp writes and reads all kinds of layouts.

TEST_CASE("a layout that is said in no way, or in two, is refused") {
  for (const std::string bad :
       {R"({})", R"({"shard":0,"runs":[0,0]})", R"({"grid":[[4],[3]]})", R"({"shards":[[0,1,1]]})", R"({"runs":[0]})",
        R"({"grid":[[4],[3]],"shards":[[0,4]]})", R"({"boxes":[[0,1]]})", R"({"boxes":[[]]})", R"({"boxes":[[0,0,3]]})",
        R"({"boxes":[[0,0,0,1,6],[0,1,0,7]]})", R"({"shard":0,"boxes":[]})", R"({"boxes":[]})"}) {
    INFO(bad);
    CHECK(sample::failure_of([&] {
            layout_reader reader;
            leaf_layout made;
            read_json(bad, "here", json_object(reader.fields()));
            if (const auto fault = reader.take(made); !fault.empty()) cairn::fail(cairn::errc::corrupt, {fault});
          }).code == cairn::errc::corrupt);
  }
}
