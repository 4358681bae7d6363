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
    cairn::detail::structure structure;
    structure["layers"] = {cairn::detail::structure::mapped_type::kind::size, random(), {}, {}};
    const auto shards = cairn::detail::from_leaves<cairn::detail::write_piece>(
        cairn::detail::divide_evenly(leaves.list, random() % 3 + 1));
    for (const auto& pieces : shards) {
      auto layout = cairn::detail::lay_out_shard(leaves.list, pieces, structure, 7);
      std::vector<std::uint64_t> blocks(cairn::detail::block_count(layout.header.data_bytes));
      for (auto& block : blocks) block = random();
      cairn::detail::set_block_checksums(layout, blocks);

      cairn::stores::memory store;
      sample::put(store, "c", {{"index.json", layout.header_text + std::string(layout.header.data_bytes, 'x')}});
      const auto header = cairn::detail::read_safetensors_header(*store.open("c", "index.json"), "here");
      const auto metadata = cairn::detail::read_shard_metadata(header, "here");
      CHECK(metadata.has_structure);
      CHECK(metadata.step == 7);
      CHECK(metadata.structure == structure);
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
    CHECK(sample::failure_of([&] {
            static_cast<void>(cairn::detail::lay_out_shard(leaves.list, {piece}, {}, 0));
          }).code == cairn::errc::invalid);
}

TEST_CASE("encoded pieces are laid out as U8 under their leaf's key, after all others") {
  std::mt19937_64 random(2);
  sample::leaves leaves;
  leaves.add("w", cairn::dtype::f32, {10, 3}, random);
  leaves.add("b", cairn::dtype::u8, {4}, random);
  const std::vector<std::byte> payload(9);
  const cairn::detail::chain_metadata chain{cairn::detail::checkpoint_ref{"step-000000001", 7},
                                            {{"00000000000000ff", std::string(256, '7')}}};
  for (const bool is_cut : {false, true}) {
    const cairn::detail::encoding_info written{
        "mine", cairn::dtype::f32, is_cut ? cairn::extents{20} : cairn::extents{10, 3}, is_cut, cairn::loss{0.5, 0.25}};
    std::vector<cairn::detail::write_piece> pieces{{{1, 0, 4}}};
    if (is_cut) {
      pieces.push_back({{0, 0, 20}, payload, &written});
      pieces.push_back({{0, 20, 10}});
    } else {
      pieces.push_back({{0, 0, 30}, std::span(payload).first(7), &written});
    }
    const auto layout = cairn::detail::lay_out_shard(leaves.list, pieces, {}, 2, chain);
    cairn::stores::memory store;
    sample::put(store, "c", {{"index.json", layout.header_text + std::string(layout.header.data_bytes, 'x')}});
    const auto header = cairn::detail::read_safetensors_header(*store.open("c", "index.json"), "here");
    const auto metadata = cairn::detail::read_shard_metadata(header, "here");
    CHECK(metadata.chain.parent == chain.parent);
    CHECK(metadata.chain.tables == chain.tables);
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
