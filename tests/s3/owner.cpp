// SPDX-License-Identifier: MIT
#include "cairn/store/s3/owner.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cairn/s3.hpp"
#include "catch.hpp"
#include "s3/bucket.hpp"
#include "store/contract.hpp"

using cairn::errc;
using cairn::stores::s3;
using sample::failure_of;
using sample::fault;

namespace {

const std::string index_key = "runs/a/published/a/0000000001000000001";  // the first one of owner 1

std::vector<std::string> owners(sample::bucket& bucket) {
  auto all = bucket.keys();
  std::erase_if(all, [](const auto& key) { return !key.starts_with("runs/a/owners/"); });
  return all;
}

/// Writes one file and the index, without publishing.
std::unique_ptr<cairn::stores::transaction> written(cairn::any_store store, const std::string& text) {
  std::mt19937_64 random(1);
  auto made = store.begin("a");
  contract::write(*made, cairn::detail::shard_file(0, 1), "data " + text, random);
  contract::write(*made, "index.json", text, random);
  return made;
}

/// An owner's object, as another process writes it.
std::string owner_text(const std::function<void(cairn::stores::detail::s3_owner_text&)>& change) {
  cairn::stores::detail::s3_owner_text text{.owner =
                                                cairn::stores::detail::owner_record::of_this_process(0, {"job 7", 1})};
  text.owner.host = "elsewhere";
  text.owner.boot = "another boot";
  change(text);
  return cairn::detail::to_json(text);
}

}  // namespace

TEST_CASE("a lock that is released is taken at once, by a higher number") {
  sample::bucket bucket;
  bucket.on_pause = [] { FAIL("waits"); };
  for (int round = 1; round <= 3; ++round) {
    auto store = bucket.store();
    const auto owned = store.lock();
    CHECK(owners(bucket) == std::vector<std::string>{"runs/a/owners/000000000" + std::to_string(round)});
    CHECK(failure_of([&] { static_cast<void>(store.lock()); }).code == errc::busy);
    auto copy = store;
    CHECK(failure_of([&] { static_cast<void>(copy.lock()); }).code == errc::busy);
  }
}

TEST_CASE("an owner that renews its lease is waited for no longer") {
  sample::bucket bucket;
  auto first = bucket.store(), second = bucket.store();
  const auto owned = first.lock();
  bucket.on_pause = [&] {
    auto& text = bucket.objects.at("runs/a/owners/0000000001").bytes;
    text.replace(text.find("\"renewals\":0"), 12, "\"renewals\":1");
  };
  const auto failure = failure_of([&] { static_cast<void>(second.lock()); });
  CHECK(failure.code == errc::busy);
  CHECK(failure.says("another object of this process saves to s3://bucket/runs/a"));
  CHECK(owners(bucket).size() == 1);
}

TEST_CASE("an owner renews its lease") {
  sample::bucket bucket;
  std::mutex mutex;
  std::condition_variable seen;
  int renewals = 0;
  bucket.before = [&](const sample::arrived& what) {
    if (what.method != "PUT" || what.body.find("\"renewals\":0") != std::string::npos) return;
    const std::lock_guard guard(mutex);
    ++renewals;
    seen.notify_all();
  };
  auto store = bucket.store({.lease = std::chrono::milliseconds(4)});
  auto owned = store.lock();
  {
    std::unique_lock lock(mutex);
    seen.wait(lock, [&] { return renewals >= 3; });
  }
  CHECK_NOTHROW(store.begin("a"));
  owned.reset();
  CHECK_THAT(bucket.objects.at("runs/a/owners/0000000001").bytes, ContainsSubstring("\"released\""));
}

TEST_CASE("a dead owner is waited for as long as it may live") {
  sample::bucket bucket;
  auto options = cairn::stores::s3_options{};
  int pauses = 0;
  bucket.on_pause = [&] { ++pauses; };
  const auto take = [&](const std::string& text) {
    bucket.objects["runs/a/owners/0000000007"] = {text, ""};
    pauses = 0;
    const auto begin = bucket.time().now();
    auto store = s3("s3://bucket/runs/a",
                    {.endpoint = "http://model:9000",
                     .credentials = [] { return cairn::stores::s3_credentials{.key_id = "AK", .secret = "SK"}; },
                     .job = {"job 7", 2}},
                    {bucket.transport(), bucket.time()});
    const auto owned = store.lock();
    CHECK(owners(bucket) == std::vector<std::string>{"runs/a/owners/0000000008"});
    return std::chrono::duration_cast<std::chrono::seconds>(bucket.time().now() - begin).count();
  };
  const auto of_this_machine = [](std::uint64_t started) {
    return owner_text([&](auto& text) {
      text.owner = cairn::stores::detail::owner_record::of_this_process(0, {});
      text.owner.started = started;
    });
  };
  SECTION("of another host") {
    const auto seconds = take(owner_text([](auto& text) { text.owner.job.id = "other"; }));
    CHECK(seconds >= 60);
    CHECK(seconds < 70);
  }
  SECTION("with a record that cannot be read") CHECK(take("{\"what\": 1}") >= 60);
  SECTION("an earlier start of the same job") CHECK(take(owner_text([](auto&) {})) == 0);
  SECTION("a later start of the same job")
  CHECK(take(owner_text([](auto& text) { text.owner.job.restarts = 3; })) >= 60);
  SECTION("a process of this machine that has ended") CHECK(take(of_this_machine(1)) == 0);
  SECTION("one that has released it") CHECK(take(owner_text([](auto& text) { text.is_released = true; })) == 0);
}

TEST_CASE("the answer to the creation of an owner is lost, or another process creates the same") {
  sample::bucket bucket;
  int count = 0;
  SECTION("lost") {
    bucket.choose = [&](const auto& what) {
      return what.method == "PUT" && count++ == 0 ? fault::lost_answer : fault::none;
    };
    auto store = bucket.store();
    CHECK_NOTHROW(store.lock());
    CHECK(owners(bucket) == std::vector<std::string>{"runs/a/owners/0000000001"});
  }
  SECTION("another") {
    bucket.before = [&](const auto& what) {
      if (what.method == "PUT" && count++ == 0)
        bucket.objects["runs/a/owners/0000000001"] = {owner_text([](auto& text) { text.is_released = true; }), ""};
    };
    auto store = bucket.store();
    CHECK_NOTHROW(store.lock());
    CHECK(owners(bucket) == std::vector<std::string>{"runs/a/owners/0000000002"});
  }
}

TEST_CASE("a server without conditions needs an agreement") {
  sample::bucket bucket;
  bucket.has_conditions = false;
  auto store = bucket.store();
  const auto failure = failure_of([&] { static_cast<void>(store.lock()); });
  CHECK(failure.code == errc::unsupported);
  CHECK(failure.says("conditional = false"));
  auto other = bucket.store({.conditional = false}, "runs/b");
  const auto owned = other.lock();
  sample::put(other, "a", {{"index.json", "x"}});
  CHECK(sample::get(other, "a", "index.json") == "x");
}

TEST_CASE("who begins to save the same checkpoint without a lock publishes first, or not at all") {
  sample::bucket bucket;
  auto first = written(bucket.store(), "1"), second = written(bucket.store(), "2");
  second->publish();
  const auto failure = failure_of([&] { first->publish(); });
  CHECK(failure.code == errc::busy);
  CHECK(failure.says("s3://bucket/runs/a/a"));
  CHECK(sample::get(bucket.store(), "a", "index.json") == "2");
  first.reset();
  CHECK(bucket.keys().size() == 3);
}

TEST_CASE("an owner whose object is deleted has lost the lock") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store();
  static_cast<void>(store.lock());
  const auto owned = store.lock();
  bucket.objects["runs/a/owners/0000000001"] = bucket.objects.at("runs/a/owners/0000000002");
  bucket.objects.erase("runs/a/owners/0000000002");
  CHECK(failure_of([&] { static_cast<void>(store.begin("a")); }).code == errc::busy);
  bucket.objects.clear();
  const auto failure = failure_of([&] { static_cast<void>(store.begin("a")); });
  CHECK(failure.code == errc::busy);
  CHECK(failure.says("another process has taken over s3://bucket/runs/a"));
}

TEST_CASE("an owner goes on in a bucket that was emptied") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store();
  const auto owned = store.lock();
  written(bucket.store(), "1")->publish();
  bucket.objects.clear();
  sample::put(store, "a", {{cairn::detail::shard_file(0, 1), "data"}, {"index.json", "2"}});
  CHECK(sample::get(store, "a", "index.json") == "2");
  CHECK(owners(bucket) == std::vector<std::string>{"runs/a/owners/0000000001"});
}

TEST_CASE("an owner that was stopped while it removes a checkpoint removes nothing of the next owner") {
  for (std::size_t stop = 1;; ++stop) {
    CAPTURE(stop);
    sample::bucket bucket;
    std::optional<s3> other;
    cairn::stores::ownership taken;
    auto store = bucket.store();
    auto owned = store.lock();
    written(store, "first")->publish();
    std::size_t count = 0;
    const auto self = std::this_thread::get_id();
    bucket.before = [&](const auto&) {
      if (std::this_thread::get_id() != self || ++count != stop) return;
      const auto keep = std::exchange(bucket.before, [](const auto&) {});
      other.emplace(bucket.store());
      taken = other->lock();
      if (!other->list().empty()) other->remove("a");
      written(*other, "second")->publish();
    };
    static_cast<void>(failure_of([&] { store.remove("a"); }));
    bucket.before = [](const auto&) {};
    if (!taken) break;
    CHECK(sample::get(*other, "a", "index.json") == "second");
    CHECK(sample::get(*other, "a", cairn::detail::shard_file(0, 1)) == "data second");
  }
}

TEST_CASE("a removal that arrives late, when a checkpoint of its name has been saved again, removes nothing") {
  sample::bucket bucket;
  cairn::any_store store = bucket.store();
  const auto owned = store.lock();
  sample::put(store, "a", {{cairn::detail::shard_file(0, 1), "old"}, {"index.json", "old"}});
  REQUIRE(bucket.objects.contains(index_key));
  store.remove("a");
  sample::put(store, "a", {{cairn::detail::shard_file(0, 1), "new"}, {"index.json", "new"}});
  bucket.objects.erase(index_key);
  CHECK(sample::get(store, "a", "index.json") == "new");
}

TEST_CASE("a publication whose answer is lost is done") {
  sample::bucket bucket;
  int count = 0;
  for (const auto which : {fault::lost_answer, fault::failed_after, fault::twice, fault::lost}) {
    count = 0;
    bucket.choose = [&](const auto& what) {
      return what.method == "PUT" && what.key.starts_with("runs/a/published/") && count++ == 0 ? which : fault::none;
    };
    written(bucket.store(), "1")->publish();
    CHECK(count >= 1);
    CHECK(sample::get(bucket.store(), "a", "index.json") == "1");
    cairn::any_store(bucket.store()).remove("a");
    CHECK(bucket.objects.empty());
  }
}

TEST_CASE("an owner that was stopped at any request, and goes on, neither publishes nor removes") {
  enum class then { nothing, saves, saves_and_removes, saves_again };
  for (const auto second : {then::nothing, then::saves, then::saves_and_removes, then::saves_again})
    for (std::size_t stop = 1;; ++stop) {
      CAPTURE(stop, static_cast<int>(second));
      sample::bucket bucket;
      std::optional<s3> other;
      cairn::stores::ownership taken;
      const auto take_over = [&] {
        other.emplace(bucket.store());
        taken = other->lock();
        if (second == then::nothing) return;
        written(*other, "second")->publish();
        if (second == then::saves) return;
        other->remove("a");
        if (second == then::saves_again) written(*other, "third")->publish();
      };
      auto store = bucket.store();
      auto owned = store.lock();
      std::size_t count = 0;
      const auto self = std::this_thread::get_id();
      bool is_placing = false;
      bucket.before = [&](const auto& what) {
        if (std::this_thread::get_id() != self) return;
        is_placing = is_placing || (what.method == "PUT" && what.key == index_key);
        if (++count != stop) return;
        const auto keep = std::exchange(bucket.before, [](const auto&) {});
        take_over();
      };
      std::string stored = "nobody's";
      const auto failure = failure_of([&] {
        written(store, "first")->publish();
        stored = "first";
      });
      const bool was_stopped = static_cast<bool>(taken);
      bucket.before = [](const auto&) {};
      if (!failure.sentence.empty()) CHECK(failure.code == errc::busy);
      if (!was_stopped) {
        CHECK(failure.sentence.empty());
        CHECK(count < 30);
        break;
      }
      if (second == then::saves) stored = "second";
      if (second == then::saves_again) stored = "third";
      if (second == then::nothing && !failure.sentence.empty() && !is_placing)
        CHECK(std::count(bucket.log.begin(), bucket.log.end(), "PUT " + index_key) == 0);
      CHECK(failure_of([&] { static_cast<void>(store.begin("b")); }).code == errc::busy);
      CHECK(failure_of([&] { store.remove("a"); }).code == errc::busy);
      const auto names = other->list();
      if (second == then::saves || second == then::saves_again) CHECK(names == std::vector<std::string>{"a"});
      if (second == then::saves_and_removes) CHECK(names.empty());
      if (second == then::nothing) CHECK(names.empty() == !failure.sentence.empty());
      for (const auto& name : names) {
        CHECK(sample::get(*other, name, "index.json") == stored);
        CHECK(sample::get(*other, name, cairn::detail::shard_file(0, 1)) == "data " + stored);
      }
      owned.reset();
      taken.reset();
      CHECK(owners(bucket) == std::vector<std::string>{"runs/a/owners/0000000002"});
      CHECK(bucket.keys().size() == 1 + names.size() * 3);
      bucket.pass(std::chrono::hours(1));
      static_cast<void>(bucket.store().lock());
      CHECK(bucket.keys().size() == 1 + names.size() * 3);
    }
}
