// SPDX-License-Identifier: MIT
#include "golden/format.hpp"

#include "cairn/chain/reader.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

// The files in tests/golden/format-1 and format-2 were written once and never change: what each version wrote stays readable, and whatever is written
// under the present version number has these bytes.

namespace {

const std::string name = cairn::detail::checkpoint_name(120);

cairn::any_store frozen(unsigned version) {
  return cairn::stores::directory(CAIRN_TESTS "/golden/format-" + std::to_string(version));
}

/// The state of version 2 as the present version writes it.
void write(cairn::any_store store) {
  golden::state state;
  state.add_boxes();
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
  cairn::detail::write_checkpoint(store, name, spec);
}

}  // namespace

TEST_CASE("the frozen checkpoints of all versions read back value for value") {
  for (const unsigned version : {1U, 2U}) {
    golden::state state;
    const auto spec = state.spec();
    const cairn::detail::checkpoint_reader reader(frozen(version), name);
    CHECK(reader.version() == version);
    CHECK(reader.step() == 120);
    CHECK(reader.metrics() == spec.info.metrics);
    CHECK(reader.contents().structure == spec.structure);
    REQUIRE(reader.contents().leaves.size() == state.leaves.size() + (version == 1 ? 0 : 2));
    for (const auto& leaf : state.leaves) {
      INFO(leaf.path);
      const auto index = reader.contents().find(leaf.path);
      REQUIRE(index != cairn::detail::catalog::npos);
      CHECK(reader.contents().leaves[index].type == leaf.type);
      CHECK(reader.contents().leaves[index].shape == leaf.shape);
      if (version == 2 && leaf.path == "model.F64") continue;  // encoded
      std::vector<std::byte> bytes(leaf.bytes());
      reader.contents().fetch(index, bytes);
      CHECK(bytes == sample::packed(leaf));
    }
  }
}

TEST_CASE("what version 2 adds reads back") {
  golden::state state;
  const auto before = state.leaves.size();
  state.add_boxes();
  const cairn::detail::checkpoint_reader reader(frozen(2), name);
  CHECK(reader.info().metadata ==
        std::map<std::string, std::string>{{"commit", "0123abcd"}, {"note", "line 1\nline 2 \u00e9"}});
  const auto& contents = reader.contents();
  REQUIRE(reader.storage_of(contents.find("model.F32")).restored != nullptr);
  CHECK(*reader.storage_of(contents.find("model.F32")).restored == cairn::restored_loss{{0.5, 0.25}, 3});
  const auto& encoded = reader.storage_of(contents.find("model.F64")).encoded;
  REQUIRE(encoded != nullptr);
  CHECK(*encoded == cairn::detail::leaf_encoding{"users_own", true, 7, cairn::loss{0.125, 0.0625}});
  const auto slices = reader.slices_of(contents.find("model.F64"));
  REQUIRE(slices.size() == 1);
  CHECK(reader.tables_of(slices[0].shard) == cairn::detail::stored_tables{{"00000000000000ff", std::string(256, '7')}});
  for (std::size_t i = before; i < state.leaves.size(); ++i) {
    const auto& part = state.leaves[i];
    const auto index = contents.find(part.path);
    REQUIRE(index != cairn::detail::catalog::npos);
    std::vector<std::byte> bytes(contents.leaves[index].bytes());
    contents.fetch(index, bytes);
    const cairn::detail::memory_view whole{part.type, part.place->whole, bytes.data(), {}};
    CHECK(sample::packed(cairn::detail::view_of(whole, {part.place->first, part.shape})) == sample::packed(part));
  }
}

TEST_CASE("the same state is still written with the same bytes") {
  cairn::any_store store = cairn::stores::memory();
  write(store);
  const auto golden = frozen(2);
  REQUIRE(store.files(name) == golden.files(name));
  for (const auto& file : golden.files(name)) {
    INFO(file);
    CHECK(sample::get(store, name, file) == sample::get(golden, name, file));
  }
}

TEST_CASE("writes the frozen checkpoint, for a new version", "[.write]") { write(frozen(2)); }
