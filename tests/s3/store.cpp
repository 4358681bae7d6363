// SPDX-License-Identifier: MIT
#include "cairn/s3.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "catch.hpp"
#include "s3/bucket.hpp"
#include "store/contract.hpp"
#include "trainer.hpp"

namespace {

/// The page docs/s3.md shows it.
[[maybe_unused]] void documented() {
  // [s3]
  const cairn::stores::s3 bucket{"s3://bucket/runs/lenet"};
  cairn::checkpointer ckpt{bucket, {.keep_last = 3}};
  // [s3]
}

}  // namespace

TEST_CASE("a bucket holds exactly what was committed and not removed") {
  sample::bucket bucket;
  contract::holds_what_was_committed(bucket.store());
  CHECK(bucket.uploads.empty());
}

TEST_CASE("the files of a checkpoint, downloaded, are one in a directory") {
  sample::bucket bucket;
  cairn::checkpointer(bucket.store()).save(tests::trained(7), {.step = 7});
  const sample::scratch scratch;
  std::string directory;
  for (const auto& [key, object] : bucket.objects) {
    if (!key.starts_with("runs/a/step-000000007.")) continue;
    const auto file = scratch.path(key.substr(7));
    directory = file.substr(0, file.rfind('/'));
    std::filesystem::create_directories(directory);
    sample::spill(file, object.bytes);
  }
  tests::trainer state;
  cairn::load(directory, state);
  CHECK(state == tests::trained(7));
}

TEST_CASE("a bucket keeps the contract of a store") {
  sample::bucket bucket;
  const cairn::any_store store = bucket.store();
  SECTION("what is not there is not found") { contract::finds_nothing_else(store); }
  SECTION("names that leave the store are refused") { contract::refuses_names(store); }
  SECTION("one saver at a time") { contract::has_one_saver(store); }
  SECTION("publications are apart") { contract::keeps_publications_apart(store); }
  SECTION("a read beyond the end is refused") { contract::refuses_reads_beyond_the_end(store); }
  SECTION("several writers") { contract::takes_several_writers(store); }
  SECTION("a writer gives up") { contract::keeps_files_of_other_writers(store); }
  SECTION("a late writer") { contract::bears_a_late_writer(store); }
  SECTION("only running attempts can be joined") { contract::joins_running_attempts(store); }
  CHECK(bucket.uploads.empty());
}
