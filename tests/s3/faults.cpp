// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/s3.hpp"
#include "catch.hpp"
#include "s3/bucket.hpp"
#include "ranks.hpp"
#include "store/contract.hpp"
#include "trainer.hpp"

using cairn::detail::checkpoint_name;
using sample::fault;
using tests::trained;
using tests::trainer;

namespace {

/// A fault in `percent` of the requests.
std::function<fault(const sample::arrived&)> random_faults(unsigned percent, std::uint64_t seed) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [random, percent](const sample::arrived& what) {
    constexpr fault all[] = {fault::lost,         fault::lost_answer,  fault::twice,          fault::late,
                             fault::cut,          fault::conflict,     fault::internal_error, fault::slow_down,
                             fault::failed_after, fault::error_in_200, fault::expired_token};
    if ((*random)() % 100 >= percent) return fault::none;
    const auto which = all[(*random)() % std::size(all)];
    // Servers answer 200 before they know only where they join parts.
    return which == fault::error_in_200 && what.method != "POST" ? fault::slow_down : which;
  };
}

/// What is in the bucket besides the files of the published checkpoints.
std::vector<std::string> left_over(sample::bucket& bucket, const std::vector<std::string>& names) {
  std::vector<std::string> left;
  std::set<std::string> attempts;
  for (const auto& [key, object] : bucket.objects) {
    if (key.starts_with("runs/a/published/"))
      attempts.insert(key.substr(17, key.rfind('/') - 17) + "." + object.attempt);
  }
  std::size_t owners = 0;
  for (const auto& key : bucket.keys()) {
    if (key.starts_with("runs/a/owners/") && ++owners == 1) continue;
    if (key.starts_with("runs/a/published/")) continue;
    const auto directory = key.substr(7, key.find('/', 7) - 7);
    if (!attempts.contains(directory) || key.ends_with("/writing")) left.push_back(key);
  }
  for (const auto& [id, each] : bucket.uploads) left.push_back("upload to " + each.key);
  if (attempts.size() != names.size()) left.push_back("publications: " + std::to_string(attempts.size()));
  return left;
}

}  // namespace

TEST_CASE("with any fault in a part of the requests, no checkpoint is lost and nothing is left over") {
  const std::uint64_t most = std::getenv("CAIRN_LONG_TESTS") != nullptr ? 1000 : 100;
  for (const auto& [percent, last] : {std::pair(5U, most), {30U, 100}}) {
    CAPTURE(percent);
    sample::bucket bucket;
    bucket.choose = random_faults(percent, percent);
    std::uint64_t saved = 0;
    const auto run = [&](std::uint64_t to) {
      cairn::checkpointer checkpoints(bucket.store(), {.keep_last = 3});
      trainer state;
      const auto report = checkpoints.restore(state);
      REQUIRE((report ? report->step : 0) == saved);
      if (saved > 0) REQUIRE(state == trained(saved));
      for (auto step = saved + 1; step <= to; ++step) {
        checkpoints.save(trained(step), {.step = step});
        saved = step;
      }
    };
    for (std::uint64_t to = 10; to <= last; to += 10) run(to);
    bucket.deliver_late();
    bucket.choose = [](const auto&) { return fault::none; };
    auto store = bucket.store();
    const std::vector wanted{checkpoint_name(last - 2), checkpoint_name(last - 1), checkpoint_name(last)};
    CHECK(store.list() == wanted);
    bucket.pass(std::chrono::hours(1));  // what requests that came late have made is older than 10 leases
    static_cast<void>(store.lock());
    CHECK(left_over(bucket, wanted) == std::vector<std::string>());
    run(last + 1);
  }
}

TEST_CASE("with faults a bucket still holds exactly what was committed and not removed") {
  sample::bucket bucket;
  bucket.choose = random_faults(10, 7);
  contract::holds_what_was_committed(bucket.store());
}

TEST_CASE("a process that ends at any request leaves the newest checkpoint whole, and nothing for good") {
  for (std::size_t end = 0;; ++end) {
    CAPTURE(end);
    sample::bucket bucket;
    std::size_t count = 0;
    bool is_dead = false;
    std::uint64_t saved = 0;
    {
      cairn::checkpointer checkpoints(bucket.store(), {.keep_last = 2});
      // What is sent after the end does not arrive.
      bucket.choose = [&](const auto&) {
        if (is_dead || count++ != end) return is_dead ? fault::lost : fault::none;
        is_dead = true;
        return end % 2 == 0 ? fault::lost_answer : fault::lost;
      };
      try {
        for (std::uint64_t step = 1; step <= 4; ++step) {
          checkpoints.save(trained(step), {.step = step});
          saved = step;
        }
      } catch (const cairn::error& failure) {
        CHECK(failure.code() == cairn::errc::io);
      }
    }
    const bool was_alive = !is_dead;
    bucket.choose = [](const auto&) { return fault::none; };
    cairn::checkpointer checkpoints(bucket.store(), {.keep_last = 2});
    trainer state;
    const auto report = checkpoints.restore(state);
    const auto found = report ? report->step : 0;
    CHECK((found == saved || found == saved + 1));  // it may have ended before it knew
    if (found > 0) CHECK(state == trained(found));
    checkpoints.save(trained(9), {.step = 9});
    bucket.pass(std::chrono::hours(1));
    CHECK_NOTHROW(checkpoints.restore(state));
    checkpoints = cairn::checkpointer(bucket.store(), {.keep_last = 2});
    checkpoints.save(trained(10), {.step = 10});
    CHECK(left_over(bucket, bucket.store().list()) == std::vector<std::string>());
    if (was_alive) break;
  }
}

TEST_CASE("a process that ends while it uploads in parts leaves nothing for good") {
  constexpr std::size_t mib = std::size_t{1} << 20U;
  const std::string text(11 * mib, 'x');
  for (std::size_t end = 0;; ++end) {
    CAPTURE(end);
    sample::bucket bucket;
    std::mutex counting;
    std::size_t count = 0;
    bool is_dead = false;
    {
      cairn::any_store store = bucket.store({.part_bytes = 5 * mib});
      const auto owned = store.lock();
      bucket.choose = [&](const auto&) {
        const std::scoped_lock lock(counting);
        if (is_dead || count++ != end) return is_dead ? fault::lost : fault::none;
        is_dead = true;
        return end % 2 == 0 ? fault::lost_answer : fault::lost;
      };
      try {
        sample::put(store, "a", {{cairn::detail::shard_file(0, 1), text}, {"index.json", "index"}});
      } catch (const cairn::error& failure) {
        CHECK(failure.code() == cairn::errc::io);
      }
    }
    const bool was_alive = !is_dead;
    bucket.choose = [](const auto&) { return fault::none; };
    bucket.pass(std::chrono::hours(1));
    cairn::any_store store = bucket.store();
    const auto owned = store.lock();
    for (const auto& each : store.list()) {
      CHECK(sample::get(store, each, cairn::detail::shard_file(0, 1)).size() == text.size());
      store.remove(each);
    }
    CHECK(left_over(bucket, {}) == std::vector<std::string>());
    if (was_alive) break;
  }
}

TEST_CASE("a publication that succeeds without an answer keeps its files, though the save fails") {
  sample::bucket bucket;
  auto store = bucket.store({.give_up_after = std::chrono::seconds(10)});
  cairn::checkpointer checkpoints(store);
  checkpoints.save(trained(1), {.step = 1});
  bucket.choose = [](const auto& what) {
    return what.method == "PUT" && what.key.find("/published/") != std::string::npos ? fault::lost_answer : fault::none;
  };
  CHECK_THROWS_AS(checkpoints.save(trained(2), {.step = 2}), cairn::error);
  bucket.choose = [](const auto&) { return fault::none; };
  trainer state;
  CHECK(cairn::checkpointer(store).restore(state)->step == 2);
  CHECK(state == trained(2));
}

TEST_CASE("ranks of a group, each with a store of its own, save and restore together, with faults and other numbers") {
  sample::bucket bucket;
  bucket.choose = random_faults(5, 11);
  std::uint64_t saved = 0;
  for (const unsigned ranks : {1U, 3U, 2U, 4U}) {
    CAPTURE(ranks);
    const auto last = saved + 4;
    const auto thrown = at_each(ranks, [&](cairn::groups::threads group) {
      auto options = quick();
      options.keep_last = 2;
      cairn::checkpointer checkpoints(bucket.store(), options, group);
      trainer state;
      const auto report = checkpoints.restore(state);
      require((report ? report->step : 0) == saved, "another step");
      require(saved == 0 || state == trained(saved, 1000), "another state");
      for (auto step = saved + 1; step <= last; ++step) checkpoints.save(trained(step, 1000), {.step = step});
    });
    CHECK(common(thrown).empty());
    saved = last;
  }
  bucket.deliver_late();
  bucket.choose = [](const auto&) { return fault::none; };
  bucket.pass(std::chrono::hours(1));
  auto store = bucket.store();
  static_cast<void>(store.lock());
  CHECK(left_over(bucket, store.list()) == std::vector<std::string>());
  CHECK(store.list().size() == 2);
}
