// SPDX-License-Identifier: MIT
#include "cairn/store/index_only.hpp"

#include <string>
#include <vector>

#include "cairn/save.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

TEST_CASE("what an index_only store keeps of a save is the index that a store of files gets") {
  static_assert(cairn::store<cairn::stores::detail::index_only>);
  const cairn::stores::memory files;
  const cairn::stores::detail::index_only store("nowhere");
  CHECK(store.text().empty());
  const std::vector<float> state(300'000, 0.5F);
  for (const std::size_t shards : {1U, 3U}) {
    cairn::save(files, "a", state, {.step = 7, .shards = shards});
    const auto report = cairn::save(store, "a", state, {.step = 7, .shards = shards});
    CHECK(report.path == "nowhere/a");
    CHECK(store.text() == sample::get(files, "a", "index.json"));
  }
  CHECK(store.list().empty());
  CHECK(sample::failure_of([&] { static_cast<void>(store.open("a", "index.json")); }).code == cairn::errc::not_found);
}

}  // namespace
