// SPDX-License-Identifier: MIT
#include "cairn/store/shard_metadata.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

cairn::detail::safetensors_header header_with(std::map<std::string, std::string, std::less<>> metadata) {
  cairn::detail::safetensors_header header;
  header.metadata = std::move(metadata);
  header.data_start = 4096;
  return header;
}

sample::failure refusal(std::map<std::string, std::string, std::less<>> metadata,
                        std::vector<cairn::detail::tensor_entry> tensors = {}, std::uint64_t data = 0) {
  metadata.try_emplace("cairn.format", "2");
  metadata.try_emplace("cairn.blocks", std::string(16 * cairn::detail::block_count(data), '0'));
  auto header = header_with(std::move(metadata));
  header.tensors = std::move(tensors);
  header.data_bytes = data;
  return sample::failure_of([&] { static_cast<void>(cairn::detail::read_shard_metadata(header, "here")); });
}

}  // namespace

TEST_CASE("a file without Cairn's metadata has nothing of it") {
  CHECK_FALSE(cairn::detail::read_shard_metadata(header_with({}), "here").is_of_cairn);
  CHECK_FALSE(cairn::detail::read_shard_metadata(header_with({{"format", "pt"}}), "here").is_of_cairn);
}

TEST_CASE("what another version writes is unsupported") {
  const auto first = refusal({{"cairn.format", "1"}, {"cairn.block_bytes", "1048576"}, {"cairn.structure", "{}"}});
  CHECK(first.code == cairn::errc::unsupported);
  CHECK(first.says("here: format version \"1\" is not 2"));
  CHECK(refusal({{"cairn.format", "3"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.format", ""}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.newer", "step-000000100"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.block_bytes", "4096"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.block_bytes", "1048576"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.parent", "{}"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.structure", "{}"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"note", "of somebody else"}}).sentence.empty());
}

TEST_CASE("metadata that contradict the file are corrupt") {
  const cairn::detail::tensor_entry slice{"a[0:4]", cairn::dtype::u8, {4}, 0, 4};
  const auto note = [](std::string_view shape, int first, int count) {
    return R"({"a[0:4]":{"leaf":"a","shape":)" + std::string(shape) + R"(,"first":)" + std::to_string(first) +
           R"(,"count":)" + std::to_string(count) + "}}";
  };
  CHECK(refusal({{"cairn.slices", note("[8]", 0, 4)}}, {slice}, 4).sentence.empty());
  for (const auto& slices :
       {note("[8]", 0, 5), note("[8]", 5, 4), note("[3]", 0, 4), note("[4294967296,4294967296]", 0, 4), note("8", 0, 4),
        note("[-8]", 0, 4), std::string("{}x"), std::string(R"({"a[0:4]":{}})"), std::string(R"({"a[0:4]":1})"),
        std::string(R"({"other":{"leaf":"a","shape":[8],"first":0,"count":4}})"),
        std::string(R"({"a[0:4]":{"leaf":"a","shape":[8],"first":0,"counts":4}})")}) {
    INFO(slices);
    const auto failure = refusal({{"cairn.slices", slices}}, {slice}, 4);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
  CHECK(refusal({{"cairn.step", "x"}}).code == cairn::errc::corrupt);
  CHECK(refusal({{"cairn.step", "99999999999999999999"}}).code == cairn::errc::corrupt);
  CHECK(refusal({{"cairn.blocks", "0000"}}).code == cairn::errc::corrupt);
  CHECK(refusal({{"cairn.blocks", std::string(16, 'g')}}, {slice}, 4).says("hexadecimal"));
  CHECK(sample::failure_of([] {
          static_cast<void>(cairn::detail::read_shard_metadata(header_with({{"cairn.format", "2"}}), "here"));
        }).says("cairn.blocks"));
}

TEST_CASE("encodings that contradict the file are corrupt") {
  const cairn::detail::tensor_entry tensor{"w", cairn::dtype::u8, {4}, 0, 4};
  const auto note = [](const std::string& key, const std::string& shape, const std::string& more = "") {
    return R"({")" + key + R"(":{"codec":"mine","dtype":"F32","shape":)" + shape + more + "}}";
  };
  CHECK(refusal({{"cairn.encoded", note("w", "[100,2]")}}, {tensor}, 4).sentence.empty());
  CHECK(refusal({{"cairn.encoded", note("w", "[9]", R"(,"relative":1)")}}, {tensor}, 4).sentence.empty());
  const auto refused = [&](const std::string& text, cairn::detail::tensor_entry what) {
    INFO(text);
    const auto failure = refusal({{"cairn.encoded", text}}, {std::move(what)}, 4);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  };
  refused(note("v", "[1]"), tensor);                                 // of no tensor
  refused(note("w", "[1000000]"), tensor);                           // too much for four bytes
  refused(note("w", "[4294967296,4294967296]"), tensor);             // more than there is
  refused(note("w", "[1]"), {"w", cairn::dtype::i8, {4}, 0, 4});     // not U8
  refused(note("w", "[1]"), {"w", cairn::dtype::u8, {2, 2}, 0, 4});  // not one run of bytes
  CHECK(refusal({{"cairn.tables", R"({"a":1})"}}).code == cairn::errc::corrupt);
}

TEST_CASE("a slice that is encoded has as many elements as its note says") {
  const cairn::detail::tensor_entry slice{"a[0:4]", cairn::dtype::u8, {9}, 0, 9};
  const std::string slices = R"({"a[0:4]":{"leaf":"a","shape":[8],"first":0,"count":4}})";
  const auto encoded = [](int count) {
    return R"({"a[0:4]":{"codec":"mine","dtype":"F32","shape":[)" + std::to_string(count) + "]}}";
  };
  CHECK(refusal({{"cairn.slices", slices}, {"cairn.encoded", encoded(4)}}, {slice}, 9).sentence.empty());
  CHECK(refusal({{"cairn.slices", slices}, {"cairn.encoded", encoded(9)}}, {slice}, 9).code == cairn::errc::corrupt);
  CHECK(refusal({{"cairn.slices", slices}}, {slice}, 9).code == cairn::errc::corrupt);
}

TEST_CASE("a slice is a run or a box of its leaf") {
  const cairn::detail::tensor_entry slice{"a[0:2,1:3]", cairn::dtype::u8, {2, 2}, 0, 4};
  const auto note = [](std::string_view members) {
    return R"({"a[0:2,1:3]":{"leaf":"a","shape":[4,3],)" + std::string(members) + "}}";
  };
  CHECK(refusal({{"cairn.slices", note(R"("begin":[0,1],"end":[2,3])")}}, {slice}, 4).sentence.empty());
  for (const std::string_view bad :
       {R"("begin":[0,1])", R"("end":[2,3])", R"("begin":[0,1],"end":[2,3],"first":0)",
        R"("begin":[0,1],"end":[2,3],"first":0,"count":4)", R"("first":0)", R"("begin":[0,1],"end":[2,4])",
        R"("begin":[3,1],"end":[2,3])", R"("begin":[0],"end":[2])", R"("begin":[0,1,0],"end":[2,3,0])",
        R"("begin":[0,0],"end":[2,3])", R"("begin":[0,1],"end":[2])"}) {
    INFO(bad);
    CHECK(refusal({{"cairn.slices", note(bad)}}, {slice}, 4).code == cairn::errc::corrupt);
  }
}
