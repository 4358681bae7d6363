// SPDX-License-Identifier: MIT
#include "cairn/store/shared_indexes.hpp"

#include <string>
#include <vector>

#include "cairn/chain/reader.hpp"
#include "cairn/save.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

using cairn::stores::detail::shared_indexes;

TEST_CASE("a rank opens the checkpoint whose index another one has read, also when it is replaced") {
  static_assert(cairn::store<shared_indexes>);
  const cairn::any_store files = cairn::stores::memory();
  cairn::save(files, "a", std::vector<float>(1000, 0.5F), {.step = 7, .shards = 2});
  const shared_indexes first(&files);
  const cairn::detail::chain_reader reader(first, "a");
  const shared_indexes second(&files, first.texts());
  cairn::save(files, "a", std::vector<float>(10), {.step = 8});
  const cairn::detail::chain_reader same(second, "a");
  CHECK(same.step() == 7);
  CHECK(same.contents().leaves[0].shape == cairn::extents{1000});
  CHECK(same.is_outdated(files));
  const cairn::detail::chain_reader other(shared_indexes(&files), "a");
  CHECK(other.step() == 8);
  CHECK(second.list() == files.list());
  CHECK(second.files("a") == files.files("a"));
}

TEST_CASE("shared indexes may hold any text") {
  const cairn::any_store files = cairn::stores::memory();
  cairn::save(files, "b", std::vector<float>(3), {.metadata = {{"text", "7\nline\n\"12"}}});
  cairn::save(files, "c", std::vector<float>(4));
  const shared_indexes first(&files);
  for (const auto* name : {"b", "c"}) CHECK(first.open(name, "index.json")->size() > 0);
  const shared_indexes second(&files, first.texts());
  CHECK(second.texts() == first.texts());
  CHECK(shared_indexes(&files, "").texts().empty());
}

TEST_CASE("nothing is written through shared indexes") {
  const cairn::any_store files = cairn::stores::memory();
  const shared_indexes store(&files);
  CHECK(sample::failure_of([&] { static_cast<void>(store.lock()); }).code == cairn::errc::invalid);
  CHECK(sample::failure_of([&] { static_cast<void>(store.begin("a")); }).code == cairn::errc::invalid);
  CHECK(sample::failure_of([&] { store.remove("a"); }).code == cairn::errc::invalid);
}

}  // namespace
