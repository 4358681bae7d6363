// SPDX-License-Identifier: MIT
#include "cairn/store/shard.hpp"

#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cairn/store/memory.hpp"
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

TEST_CASE("what is laid out is what the metadata say") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const auto leaves = sample::random_leaves(random, 12, 3000);
    const auto shards = cairn::detail::from_leaves<cairn::detail::write_piece>(
        cairn::detail::divide_evenly(leaves.list, random() % 3 + 1));
    for (const auto& pieces : shards) {
      auto layout = cairn::detail::lay_out_shard(leaves.list, pieces, 7);
      std::vector<std::uint64_t> blocks(cairn::detail::block_count(layout.header.data_bytes));
      for (auto& block : blocks) block = random();
      cairn::detail::set_block_checksums(layout, blocks);

      cairn::stores::memory store;
      sample::put(store, "c", {{"index.json", layout.header_text + std::string(layout.header.data_bytes, 'x')}});
      const auto header = cairn::detail::read_safetensors_header(*store.open("c")->open("index.json"), "here");
      const auto metadata = cairn::detail::read_shard_metadata(header, "here");
      CHECK(metadata.is_of_cairn);
      CHECK(metadata.step == 7);
      CHECK(metadata.blocks == blocks);
      REQUIRE(header.tensors.size() == pieces.size());
      for (std::size_t i = 0; i < header.tensors.size(); ++i) {
        const auto& tensor = header.tensors[i];
        const auto& laid = *std::find_if(layout.header.tensors.begin(), layout.header.tensors.end(),
                                         [&](const auto& t) { return t.key == tensor.key; });
        const auto& piece = layout.pieces[static_cast<std::size_t>(&laid - layout.header.tensors.data())];
        const auto& leaf = leaves.list[piece.leaf];
        CHECK(tensor.begin % cairn::size_of(tensor.type) == 0);
        const auto slice = metadata.slices.find(tensor.key);
        if (slice == metadata.slices.end()) {
          CHECK(tensor.key == leaf.path);
          CHECK(tensor.shape == leaf.shape);
        } else {
          CHECK(slice->second.leaf == leaf.path);
          CHECK(slice->second.shape == leaf.shape);
          CHECK(slice->second.first == piece.first);
          CHECK(slice->second.count == piece.count);
          CHECK(tensor.shape == cairn::extents{piece.count});
        }
      }
    }
  }
}

TEST_CASE("a piece that is not part of its leaf is refused") {
  std::mt19937_64 random(1);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::f32, {10}, random);
  for (const auto& piece :
       {cairn::detail::write_piece{{1, 0, 1}}, cairn::detail::write_piece{{0, 5, 6}},
        cairn::detail::write_piece{{0, 11, 0}}, cairn::detail::write_piece{{0, 5, ~std::uint64_t{0}}}})
    CHECK(sample::failure_of([&] { static_cast<void>(cairn::detail::lay_out_shard(leaves.list, {piece}, 0)); }).code ==
          cairn::errc::invalid);
}

TEST_CASE("encoded pieces are laid out as U8 under their leaf's key, after all others") {
  std::mt19937_64 random(2);
  sample::leaves leaves;
  leaves.add("w", cairn::dtype::f32, {10, 3}, random);
  leaves.add("b", cairn::dtype::u8, {4}, random);
  const std::vector<std::byte> payload(9);
  const cairn::detail::stored_tables tables{{"00000000000000ff", std::string(256, '7')}};
  for (const bool is_cut : {false, true}) {
    const cairn::detail::encoding_info written{
        "mine", cairn::dtype::f32, is_cut ? cairn::extents{20} : cairn::extents{10, 3}, is_cut, cairn::loss{0.5, 0.25}};
    std::vector<cairn::detail::write_piece> pieces{{{1, 0, 4}}};
    if (is_cut) {
      pieces.push_back({{0, 0, 20}, payload, &written, &tables});
      pieces.push_back({{0, 20, 10}});
    } else {
      pieces.push_back({{0, 0, 30}, std::span(payload).first(7), &written, &tables});
    }
    const auto layout = cairn::detail::lay_out_shard(leaves.list, pieces, 2);
    cairn::stores::memory store;
    sample::put(store, "c", {{"index.json", layout.header_text + std::string(layout.header.data_bytes, 'x')}});
    const auto header = cairn::detail::read_safetensors_header(*store.open("c")->open("index.json"), "here");
    const auto metadata = cairn::detail::read_shard_metadata(header, "here");
    CHECK(metadata.tables == tables);
    REQUIRE(metadata.encoded.size() == 1);
    const auto& [key, how] = *metadata.encoded.begin();
    CHECK(key == (is_cut ? "w[0:20]" : "w"));
    CHECK(how == written);
    CHECK(header.data_bytes == (is_cut ? 9U + 4U + 40U : 7U + 4U));
    const auto& last = header.tensors.back();
    CHECK(last.type == cairn::dtype::u8);
    if (is_cut) CHECK(header.tensors.front().key == "w[20:30]");
  }
}

TEST_CASE("a box is laid out under its ranges") {
  std::mt19937_64 random(3);
  sample::leaves leaves;
  leaves.add("w", cairn::dtype::f32, {2, 3}, random).place =
      std::make_shared<const cairn::detail::box_place>(cairn::detail::box_place{{8, 6}, {4, 3}});
  const auto layout = cairn::detail::lay_out_shard(leaves.list, {cairn::detail::write_piece{{0, 0, 6}}}, 2);
  cairn::stores::memory store;
  sample::put(store, "c", {{"index.json", layout.header_text + std::string(layout.header.data_bytes, 'x')}});
  const auto header = cairn::detail::read_safetensors_header(*store.open("c")->open("index.json"), "here");
  const auto slices = cairn::detail::read_shard_metadata(header, "here").slices;
  REQUIRE(header.tensors.size() == 1);
  CHECK(header.tensors[0].key == "w[4:6,3:6]");
  CHECK(header.tensors[0].shape == cairn::extents{2, 3});
  REQUIRE(slices.size() == 1);
  const auto& slice = slices.begin()->second;
  CHECK(slice.shape == cairn::extents{8, 6});
  CHECK(slice.count == 6);
  CHECK(slice.region == cairn::detail::box{{4, 3}, {2, 3}});
  for (const auto& [count, first] : {std::pair<std::uint64_t, std::uint64_t>{5, 4}, {6, 7}}) {
    leaves.list[0].place =
        std::make_shared<const cairn::detail::box_place>(cairn::detail::box_place{{8, 6}, {first, 3}});
    CHECK(sample::failure_of([&, n = count] {
            static_cast<void>(cairn::detail::lay_out_shard(leaves.list, {cairn::detail::write_piece{{0, 0, n}}}, 2));
          }).code == cairn::errc::invalid);
  }
}

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

TEST_CASE("encodings and code tables read back as they were written") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    sample::leaves leaves;
    std::vector<cairn::detail::encoding_info> how;
    const std::vector<std::byte> payload(9);
    for (std::size_t i = random() % 6; i > 0; --i) {
      cairn::extents shape;
      for (std::size_t d = random() % 4; d > 0; --d) shape.push_back(random() % 5);
      const auto type = static_cast<cairn::dtype>(random() % cairn::dtype_count);
      leaves.add("layer \"" + std::to_string(i), type, shape, random);
      auto& made = how.emplace_back("codec " + std::to_string(random() % 9), type, shape);
      made.relative = random() % 2 == 0;
      if (random() % 2 == 0)
        made.lost = cairn::loss{1e-3 * static_cast<double>(random()), static_cast<double>(random() % 7)};
      if (random() % 9 == 0) made.lost = cairn::loss{0, std::numeric_limits<double>::infinity(), 0.1};
    }
    const cairn::detail::stored_tables tables{{"0123456789abcdef", std::string(256, '1')},
                                              {"ff", std::string(256, '2')}};
    std::vector<cairn::detail::write_piece> pieces;
    cairn::detail::encoded_tensors expected;
    for (std::size_t i = 0; i < how.size(); ++i) {
      pieces.push_back({{i, 0, leaves.list[i].count()}, payload, &how[i], &tables});
      expected[leaves.list[i].path] = how[i];
    }
    const auto layout = cairn::detail::lay_out_shard(leaves.list, pieces, 7);
    const auto read = cairn::detail::read_shard_metadata(layout.header, "here");
    CHECK(read.encoded == expected);
    CHECK(read.tables == (pieces.empty() ? cairn::detail::stored_tables() : tables));
  }
}

TEST_CASE("malformed encodings and code tables are refused") {
  for (const std::string bad :
       {R"({"w":{}})", R"({"w":1})", R"({"w":{"codec":"x","dtype":"F32"}})", R"({"w":{"codec":"x","shape":[1]}})",
        R"({"w":{"dtype":"F32","shape":[1]}})", R"({"w":{"codec":"","dtype":"F32","shape":[]}})",
        R"({"w":{"codec":"x","dtype":"F33","shape":[]}})", R"({"w":{"codec":"x","dtype":"F32","shape":[-1]}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":1}})", R"({"w":{"codec":"x","dtype":"F32","shape":[[1]]}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":[],"relative":2}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":[],"max_error":"much"}})",
        R"({"w":{"codec":"x","dtype":"F32","shape":[],"newer":1}})", R"([])", "{"}) {
    INFO(bad);
    const auto failure = refusal({{"cairn.encoded", bad}}, {{"w", cairn::dtype::u8, {4}, 0, 4}}, 4);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here: malformed cairn.encoded"));
  }
  for (const std::string bad : {R"({"a":1})", R"({"a":{}})", R"({"a":"0"})", "[]"})
    CHECK(refusal({{"cairn.tables", bad}}).says("here: malformed cairn.tables"));
  CHECK(refusal({{"cairn.tables", R"({"a":"0"})"}}).says("\"a\" is not 256 digits"));
  CHECK(refusal({{"cairn.tables", "{}"}}).sentence.empty());
}

namespace {

/// A file of the text as its header and `data` bytes after it.
std::string file_of(std::string_view header, std::size_t data, std::uint64_t claimed = 0) {
  std::string text(8, '\0');
  if (claimed == 0) claimed = header.size();
  std::memcpy(text.data(), &claimed, 8);
  return text + std::string(header) + std::string(data, 'x');
}

/// The header of one tensor with `count` dimensions of one element.
std::string dimensions(std::size_t count) {
  std::string text = R"({"a":{"dtype":"U8","shape":[1)";
  for (std::size_t i = 1; i < count; ++i) text += ",1";
  return text + R"(],"data_offsets":[0,1]}})";
}

cairn::detail::safetensors_header parse(const std::string& file) {
  cairn::stores::memory store;
  sample::put(store, "c", {{"index.json", file}});
  return cairn::detail::read_safetensors_header(*store.open("c")->open("index.json"), "here.safetensors");
}

}  // namespace

TEST_CASE("any header is written and read back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    cairn::detail::safetensors_header header;
    for (const auto& leaf : sample::random_leaves(random, 30, 500).list) {
      const auto end = header.data_bytes + leaf.bytes();
      header.tensors.push_back({leaf.path, leaf.type, leaf.shape, header.data_bytes, end});
      header.data_bytes = end;
    }
    for (std::size_t i = random() % 5; i > 0; --i)
      header.metadata["k" + std::to_string(i)] = std::string(random() % 99, '"');
    const auto text = cairn::detail::write_safetensors_header(header);
    CHECK(text.size() % cairn::detail::data_alignment == 0);
    const auto read = parse(text + std::string(header.data_bytes, '\0'));
    CHECK(read.metadata == header.metadata);
    CHECK(read.data_start == text.size());
    CHECK(read.data_bytes == header.data_bytes);
    REQUIRE(read.tensors.size() == header.tensors.size());
    for (const auto& tensor : header.tensors) {
      const auto at = std::find_if(read.tensors.begin(), read.tensors.end(),
                                   [&](const auto& other) { return other.key == tensor.key; });
      REQUIRE(at != read.tensors.end());
      CHECK(at->type == tensor.type);
      CHECK(at->shape == tensor.shape);
      CHECK(at->begin == tensor.begin);
      CHECK(at->end == tensor.end);
    }
  }
}

TEST_CASE("files of others: no metadata, no alignment, any order") {
  const auto header = parse(file_of(
      R"({"b":{"shape":[2,1],"data_offsets":[3,11],"dtype":"F32"},"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})",
      11));
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].key == "a");
  CHECK(header.tensors[1].key == "b");
  CHECK(header.tensors[1].shape == cairn::extents{2, 1});
  CHECK(header.metadata.empty());
  CHECK(parse(file_of("{}", 0)).tensors.empty());
  CHECK(parse(file_of(R"({"__metadata__":{"format":"pt"}}   )", 0)).metadata.at("format") == "pt");
}

TEST_CASE("a hostile header gives an error that names file and cause") {
  struct hostile {
    std::string file;
    std::string cause;
  };
  const std::string a = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  std::string deep = R"({"a":)";
  for (int i = 0; i < 10'000; ++i) deep += "[";
  const std::vector<hostile> all{
      {"", "too few"},
      {"1234567", "too few"},
      {file_of("{}", 0, std::uint64_t{1} << 40U), "claims 1099511627776 bytes"},
      {file_of("{}", 0, ~std::uint64_t{0}), "claims"},
      {file_of("{}", 0, 3), "claims 3 bytes"},
      {file_of("{", 0), "malformed JSON"},
      {file_of("[]", 0), "does not begin"},
      {file_of(a, 4), "malformed JSON"},
      {file_of(a + "}", 5), ": the tensors end at byte 4 of a data section of 5"},
      {file_of(a + "}", 3), "claims bytes [0, 4)"},
      {file_of(R"({"__metadata__":{"a":"b","c":"d","a":"b"}})", 0), "\"a\" appears twice"},
      {file_of(a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})", 9), "hole"},
      {file_of(a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})", 7), "overlaps"},
      {file_of(a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4), "overlaps"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", 4), "claims bytes [4, 0)"},
      {file_of(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,4]}})", 4), "its shape needs 3"},
      {file_of(R"({"a":{"dtype":"F99","shape":[4],"data_offsets":[0,4]}})", 4), "unknown dtype \"F99\""},
      {file_of(R"({"a":{"dtype":4,"shape":[4],"data_offsets":[0,4]}})", 4), "dtype"},
      {file_of(R"({"a":{"shape":[4],"data_offsets":[0,4]}})", 4), "lacks"},
      {file_of(R"({"a":{"dtype":"U8","data_offsets":[0,4]}})", 4), "lacks"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4]}})", 4), "lacks"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4]}})", 4), "\"data_offsets\" has fewer than 2"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}})", 4), "\"data_offsets\" has more than 2"},
      {file_of(R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", 4), "\"shape\" is not an integer"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]}})", 4), "\"shape\" is not an integer"},
      {file_of(R"({"a":{"dtype":"U8","shape":[[4]],"data_offsets":[0,4]}})", 4), "\"shape\" is not an integer"},
      {file_of(R"({"a":{"dtype":"F64","shape":[9223372036854775808,2],"data_offsets":[0,0]}})", 0), "2^64"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0), "2^64"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}})", 4), "unknown field \"x\""},
      {file_of(R"({"a":1})", 0), "not an object"},
      {file_of(R"({"__metadata__":{"a":1}})", 0), "not a string"},
      {file_of(R"({"__metadata__":[]})", 0), "not an object"},
      {file_of(R"({"__metadata__":{"a":{"b":"c"}}})", 0), "not a string"},
      {file_of("{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0), "malformed JSON"},
      {file_of(deep, 0), "not an object"},
      {file_of(dimensions(65), 1), "64 dimensions"},
  };
  for (const auto& [file, cause] : all) {
    INFO(cause << ": " << file.substr(0, 200));
    const auto failure = sample::failure_of([&] { parse(file); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here.safetensors"));
    CHECK(failure.says(cause));
  }
}

TEST_CASE("a dtype of safetensors that C++ lacks is unsupported, not corrupt") {
  CHECK(sample::failure_of([] {
          parse(file_of(R"({"a":{"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]}})", 4));
        }).code == cairn::errc::unsupported);
}

TEST_CASE("a tensor has at most 64 dimensions") {
  CHECK(parse(file_of(dimensions(64), 1)).tensors[0].shape.size() == 64);
}

TEST_CASE("an empty dimension makes any shape fit") {
  const auto header =
      parse(file_of(R"({"a":{"dtype":"F64","shape":[0,9223372036854775808,2],"data_offsets":[0,0]}})", 0));
  CHECK(header.tensors[0].shape.size() == 3);
}

TEST_CASE("a header that could not be read back is not written") {
  const auto write = [](std::vector<std::string> keys) {
    cairn::detail::safetensors_header header;
    for (auto& key : keys) header.tensors.push_back({key, cairn::dtype::u8, {0}, 0, 0});
    return sample::failure_of([&] { static_cast<void>(cairn::detail::write_safetensors_header(header)); });
  };
  CHECK(write({"__metadata__"}).code == cairn::errc::invalid);
  CHECK(write({"a", "b", "a"}).says("two leaves have the path \"a\", or one has it and the name of a part"));
  CHECK(write({"a\xff"}).says("UTF-8"));
  CHECK(write({"a", "b"}).sentence.empty());
}
