// SPDX-License-Identifier: MIT
#include "golden/format.hpp"

#include "cairn/chain/reader.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "golden/same_files.hpp"
#include "store/sample.hpp"

// The files in tests/golden/format-2 were written once and never change: they stay readable, and whatever is written
// under this version number has these bytes.

namespace {

const std::string name = cairn::detail::checkpoint_name(120);

cairn::any_store frozen() { return cairn::stores::directory(CAIRN_TESTS "/golden/format-2"); }

void write(cairn::any_store store) {
  const golden::state state;
  auto spec = state.spec();
  spec.info.metadata = {{"commit", "0123abcd"}, {"note", "line 1\nline 2 \u00e9"}};
  spec.restored = {{"model.F32", {{0.5, 0.25}, 3}}};
  spec.parent = cairn::detail::checkpoint_ref{"step-000000110", 0x0123456789abcdefU};
  const std::vector<std::byte> payload(7, std::byte{9});
  const cairn::detail::encoding_info how{"users_own", cairn::dtype::f64, {3, 15}, true, cairn::loss{0.125, 0.0625}};
  const cairn::detail::stored_tables tables{{"00000000000000ff", std::string(256, '7')}};
  for (auto& shard : spec.shards)
    for (auto& piece : shard)
      if (spec.leaves[piece.leaf].path == "model.F64") piece.bytes = payload, piece.how = &how, piece.tables = &tables;
  sample::write_checkpoint(store, name, spec);
}

}  // namespace

TEST_CASE("the frozen checkpoint reads back value for value") {
  const golden::state state;
  const auto spec = state.spec();
  const auto reader = cairn::detail::open_checkpoint(frozen(), name);
  const auto& contents = reader.contents;
  CHECK(reader.index.info.step == 120);
  CHECK(reader.index.info.metrics == spec.info.metrics);
  CHECK(reader.index.info.metadata ==
        std::map<std::string, std::string>{{"commit", "0123abcd"}, {"note", "line 1\nline 2 \u00e9"}});
  CHECK(contents.structure == spec.structure);
  std::set<std::string> paths;
  for (const auto& leaf : state.leaves) {
    INFO(leaf.path);
    paths.insert(leaf.path);
    const auto index = contents.find(leaf.path);
    REQUIRE(index != cairn::detail::catalog::npos);
    CHECK(contents.leaves[index].type == leaf.type);
    CHECK(contents.leaves[index].shape == (leaf.place ? leaf.place->whole : leaf.shape));
    if (leaf.path == "model.F64") continue;  // encoded
    std::vector<std::byte> bytes(contents.leaves[index].bytes());
    const cairn::detail::read_request one[] = {{index, {leaf.type, contents.leaves[index].shape, bytes.data(), {}}}};
    cairn::detail::read_leaves(reader, one);
    if (leaf.place) {
      const cairn::detail::memory_view whole{leaf.type, leaf.place->whole, bytes.data(), {}};
      CHECK(sample::packed(cairn::detail::view_of(whole, {leaf.place->first, leaf.shape})) == sample::packed(leaf));
    } else {
      CHECK(bytes == sample::packed(leaf));
    }
  }
  CHECK(contents.leaves.size() == paths.size());
}

TEST_CASE("the losses and the encoding of the frozen checkpoint read back") {
  const auto reader = cairn::detail::open_checkpoint(frozen(), name);
  const auto& contents = reader.contents;
  REQUIRE(reader.index.storage[contents.find("model.F32")].restored != nullptr);
  CHECK(*reader.index.storage[contents.find("model.F32")].restored == cairn::restored_loss{{0.5, 0.25}, 3});
  const auto& encoded = reader.index.storage[contents.find("model.F64")].encoded;
  REQUIRE(encoded != nullptr);
  CHECK(*encoded == cairn::detail::leaf_encoding{"users_own", true, 7, cairn::loss{0.125, 0.0625}});
  const auto slices = reader.slices_of(contents.find("model.F64"));
  REQUIRE(slices.size() == 1);
  CHECK(reader.shards[slices[0].shard].metadata.tables ==
        cairn::detail::stored_tables{{"00000000000000ff", std::string(256, '7')}});
}

TEST_CASE("the same state is still written with the same bytes") {
  cairn::any_store store = cairn::stores::memory();
  write(store);
  golden::check_same_files(store, frozen(), name);
}

TEST_CASE("writes the frozen checkpoint, for a new version", "[.write]") { write(frozen()); }
