#include "golden/format_1.hpp"

#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/reader.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

// The files in tests/golden/format-1 were written once and never change: what version 1 wrote stays readable, and
// whatever is written under this version number has these bytes.

namespace {
const std::string name = cairn::detail::checkpoint_name(120);
cairn::any_store frozen() { return cairn::stores::directory(CAIRN_TESTS "/golden/format-1"); }
}  // namespace

TEST_CASE("the frozen checkpoint of format 1 reads back value for value") {
  const golden::state state;
  const auto spec = state.spec();
  const cairn::detail::checkpoint_reader reader(frozen(), name);
  CHECK(reader.step() == 120);
  CHECK(reader.metrics() == spec.info.metrics);
  auto structure = spec.structures[0];
  structure.insert(spec.structures[1].begin(), spec.structures[1].end());
  CHECK(reader.contents().structure == structure);
  REQUIRE(reader.contents().leaves.size() == state.leaves.size());
  for (const auto& leaf : state.leaves) {
    INFO(leaf.path);
    const auto index = reader.contents().find(leaf.path);
    REQUIRE(index != cairn::detail::catalog::npos);
    CHECK(reader.contents().leaves[index].type == leaf.type);
    CHECK(reader.contents().leaves[index].shape == leaf.shape);
    std::vector<std::byte> bytes(leaf.bytes());
    reader.contents().fetch(index, bytes);
    CHECK(bytes == sample::packed(leaf));
  }
}

TEST_CASE("the same state is still written with the same bytes") {
  cairn::any_store store = cairn::stores::memory();
  cairn::detail::write_checkpoint(store, name, golden::state().spec());
  const auto golden = frozen();
  REQUIRE(store.files(name) == golden.files(name));
  for (const auto& file : golden.files(name)) {
    INFO(file);
    CHECK(sample::get(store, name, file) == sample::get(golden, name, file));
  }
}
