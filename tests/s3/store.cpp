// SPDX-License-Identifier: MIT
#include "cairn/s3.hpp"

#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "catch.hpp"
#include "s3/bucket.hpp"
#include "store/contract.hpp"

namespace {

/// The page docs/s3.md shows it.
[[maybe_unused]] void documented() {
  // [s3]
  cairn::checkpointer ckpt{cairn::stores::s3{"s3://bucket/runs/lenet"}, {.keep_last = 3}};
  // [s3]
}

}  // namespace

TEST_CASE("a bucket holds exactly what was committed and not removed") {
  sample::bucket bucket;
  contract::holds_what_was_committed(bucket.store());
  CHECK(bucket.uploads.empty());
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
