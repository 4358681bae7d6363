// SPDX-License-Identifier: MIT
#include "cairn/store/shard.hpp"

#include <random>

#include "cairn/store/memory.hpp"
#include "cairn/store/shard_metadata.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

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
      const auto header = cairn::detail::read_safetensors_header(*store.open("c", "index.json"), "here");
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
    const auto header = cairn::detail::read_safetensors_header(*store.open("c", "index.json"), "here");
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
  const auto header = cairn::detail::read_safetensors_header(*store.open("c", "index.json"), "here");
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
