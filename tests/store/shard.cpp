#include "cairn/store/shard.hpp"

#include <random>

#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

cairn::safetensors_header header_with(std::map<std::string, std::string, std::less<>> metadata) {
  cairn::safetensors_header header;
  header.metadata = std::move(metadata);
  header.data_start = 4096;
  return header;
}

sample::failure refusal(std::map<std::string, std::string, std::less<>> metadata,
                        std::vector<cairn::tensor_entry> tensors = {}, std::uint64_t data = 0) {
  metadata.try_emplace("cairn.format", "1");
  metadata.try_emplace("cairn.blocks", std::string(16 * cairn::block_count(data), '0'));
  auto header = header_with(std::move(metadata));
  header.tensors = std::move(tensors);
  header.data_bytes = data;
  return sample::failure_of([&] { static_cast<void>(cairn::read_shard_notes(header, "here")); });
}

}  // namespace

TEST_CASE("what is laid out is what the notes say") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const auto leaves = sample::random_leaves(random, 12, 3000);
    cairn::structure facts;
    facts["layers"] = {cairn::fact::kind::size, random(), {}, {}};
    for (const auto& pieces : cairn::divide_evenly(leaves.list, random() % 3 + 1)) {
      auto layout = cairn::lay_out_shard(leaves.list, pieces, facts, 7);
      std::vector<std::uint64_t> blocks(cairn::block_count(layout.header.data_bytes));
      for (auto& block : blocks) block = random();
      cairn::set_block_checksums(layout, blocks);

      cairn::stores::memory store;
      sample::put(store, "c", {{"index.json", layout.header_text + std::string(layout.header.data_bytes, 'x')}});
      const auto header = cairn::read_safetensors_header(*store.open("c", "index.json"), "here");
      const auto notes = cairn::read_shard_notes(header, "here");
      CHECK(notes.by_cairn);
      CHECK(notes.step == 7);
      CHECK(notes.facts == facts);
      CHECK(notes.blocks == blocks);
      REQUIRE(header.tensors.size() == pieces.size());
      for (std::size_t i = 0; i < header.tensors.size(); ++i) {
        const auto& tensor = header.tensors[i];
        const auto& laid = *std::find_if(layout.header.tensors.begin(), layout.header.tensors.end(),
                                         [&](const auto& t) { return t.key == tensor.key; });
        const auto& piece = layout.pieces[static_cast<std::size_t>(&laid - layout.header.tensors.data())];
        const auto& leaf = leaves.list[piece.leaf];
        CHECK(tensor.begin % cairn::size_of(tensor.type) == 0);
        const auto note = notes.slices.find(tensor.key);
        if (note == notes.slices.end()) {
          CHECK(tensor.key == leaf.path);
          CHECK(tensor.shape == leaf.shape);
        } else {
          CHECK(note->second.leaf == leaf.path);
          CHECK(note->second.shape == leaf.shape);
          CHECK(note->second.first == piece.first);
          CHECK(note->second.count == piece.count);
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
       {cairn::piece{1, 0, 1}, cairn::piece{0, 5, 6}, cairn::piece{0, 11, 0}, cairn::piece{0, 5, ~std::uint64_t{0}}})
    CHECK(sample::failure_of([&] { static_cast<void>(cairn::lay_out_shard(leaves.list, {piece}, {}, 0)); }).code ==
          cairn::errc::invalid);
}

TEST_CASE("a file without Cairn's metadata has no notes") {
  CHECK_FALSE(cairn::read_shard_notes(header_with({}), "here").by_cairn);
  CHECK_FALSE(cairn::read_shard_notes(header_with({{"format", "pt"}}), "here").by_cairn);
}

TEST_CASE("what a newer version writes is unsupported") {
  CHECK(refusal({{"cairn.format", "2"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.format", ""}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.parent", "step-000000100"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"cairn.block_bytes", "4096"}}).code == cairn::errc::unsupported);
  CHECK(refusal({{"note", "of somebody else"}}).sentence.empty());
}

TEST_CASE("metadata that contradict the file are corrupt") {
  const cairn::tensor_entry slice{"a[0:4]", cairn::dtype::u8, {4}, 0, 4};
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
          static_cast<void>(cairn::read_shard_notes(header_with({{"cairn.format", "1"}}), "here"));
        }).says("cairn.blocks"));
}
