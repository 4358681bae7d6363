// SPDX-License-Identifier: MIT
// Against a real server: CAIRN_S3_ENDPOINT, CAIRN_S3_BUCKET, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say which, and
// the tests are run with [real]. CAIRN_S3_FAULTS is set if a proxy loses and repeats requests. Each test uses a prefix
// of its own, and leaves nothing below it.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/s3.hpp"
#include "cairn/store/s3/client.hpp"
#include "catch.hpp"
#include "store/contract.hpp"
#include "trainer.hpp"

using tests::trained;
using tests::trainer;

namespace {

constexpr std::uint64_t mib = 1U << 20U;

cairn::stores::s3_options options() {
  const char* const endpoint = std::getenv("CAIRN_S3_ENDPOINT");
  cairn::stores::s3_options made;
  if (endpoint != nullptr) made.endpoint = endpoint;
  made.part_bytes = 6 * mib;
  made.job = {};
  return made;
}

/// A prefix that is emptied at the end.
struct place {
  std::string name =
      "test-" +
      cairn::stores::detail::sha256_hex(sample::bytes_of(std::to_string(std::random_device()()))).substr(0, 12);
  std::string bucket = std::getenv("CAIRN_S3_BUCKET") != nullptr ? std::getenv("CAIRN_S3_BUCKET") : "cairn";
  cairn::stores::detail::s3_client client{cairn::stores::detail::bucket_address(bucket, options().endpoint, "", {}),
                                          {}};

  [[nodiscard]] cairn::stores::s3 store(const cairn::stores::s3_options& with = options()) const {
    return cairn::stores::s3("s3://" + bucket + "/" + name, with);
  }
  [[nodiscard]] std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (const auto& each : client.list(name + "/").all) all.push_back(each.key);
    return all;
  }
  ~place() {
    try {
      for (const auto& each : client.list(name + "/").all) client.remove(each.key);
      for (const auto& each : client.list_uploads(name + "/").all) client.abort_upload(each.key, each.upload);
    } catch (const cairn::error&) {  // the test has said so
    }
  }
};

}  // namespace

TEST_CASE("a server: checkpoints are saved, kept and restored", "[.][real]") {
  place where;
  {
    cairn::checkpointer checkpoints(where.store(), {.keep_last = 3});
    for (std::uint64_t step = 1; step <= 8; ++step) checkpoints.save(trained(step), {.step = step});
  }
  CHECK(where.store().list() == std::vector<std::string>{"step-000000006", "step-000000007", "step-000000008"});
  trainer state;
  cairn::checkpointer checkpoints(where.store(), {.keep_last = 3});
  REQUIRE(checkpoints.restore(state)->step == 8);
  CHECK(state == trained(8));
  // Three indexes that publish, three checkpoints of two files, and the owner. Requests that come late leave something.
  if (std::getenv("CAIRN_S3_FAULTS") == nullptr) CHECK(where.keys().size() == 10);
}

TEST_CASE("a server: files in parts, which come in any order", "[.][real]") {
  place where;
  {
    cairn::checkpointer checkpoints(where.store());
    checkpoints.save(trained(1, 5'000'000), {.step = 1});
    trainer state;
    REQUIRE(checkpoints.restore(state)->step == 1);
    CHECK(state == trained(1, 5'000'000));
  }
  cairn::any_store store = where.store();
  std::mt19937_64 random(1);
  std::string text(20 * mib + 1, '\0');
  for (auto& each : text) each = static_cast<char>(random());
  const auto shard = cairn::detail::shard_file(0, 1);
  {
    const auto transaction = store.begin("a");
    contract::write(*transaction, shard, text, random);
    contract::write(*transaction, "index.json", "x", random);
    transaction->publish();
    const auto given_up = store.begin("b");
    contract::write(*given_up, shard, text, random);
  }
  CHECK(sample::get(store, "a", shard) == text);
  CHECK(store.list() == std::vector<std::string>{"a", "step-000000001"});
  CHECK(where.client.list_uploads(where.name + "/").all.empty());
}

TEST_CASE("a server: the contract of a store", "[.][real]") {
  place where;
  const cairn::any_store store = where.store();
  SECTION("holds") { contract::holds_what_was_committed(store); }
  SECTION("nothing else") { contract::finds_nothing_else(store); }
  SECTION("apart") { contract::keeps_publications_apart(store); }
  SECTION("beyond the end") { contract::refuses_reads_beyond_the_end(store); }
  SECTION("several writers") { contract::takes_several_writers(store); }
  SECTION("a writer gives up") { contract::keeps_files_of_other_writers(store); }
  SECTION("a late writer") { contract::bears_a_late_writer(store); }
  SECTION("running attempts") { contract::joins_running_attempts(store); }
  SECTION("one saver") { contract::has_one_saver(store); }
}

TEST_CASE("a server: names of all kinds, and more than a page of them", "[.][real]") {
  place where;
  where.name += "/a=b c+d%e\xc3\xa4";
  cairn::any_store store = where.store();
  for (const auto* each : {"a=1", "b c", "d+e", "f%20g", "h\xc3\xa4", "i&j<k>\"l'", "m~n"})
    sample::put(store, each, {{"index.json", each}});
  CHECK(store.list().size() == 7);
  for (const auto& each : store.list()) CHECK(sample::get(store, each, "index.json") == each);
  std::vector<std::thread> threads;
  std::atomic<int> next{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int number = next++; number < 1001; number = next++)
        for (const auto* each :
             {"published/step-@/0000000000000000001", "step-@.0123456789abcdef01234567/index.json"}) {
          std::string key = each;
          key.replace(key.find('@'), 1, std::to_string(100'000'000 + number));
          where.client.put(where.name + "/" + key, "x", {.attempt = "0123456789abcdef01234567"});
        }
    });
  for (auto& each : threads) each.join();
  CHECK(store.list().size() == 1008);
}

TEST_CASE("a server: of two owners one saves", "[.][real]") {
  place where;
  for (int round = 0; round < 20; ++round) {
    auto with = options();
    with.lease = std::chrono::seconds(2);  // a released lock is not waited for, a live one for half a second
    std::atomic<int> owners{0}, busy{0};
    std::vector<std::thread> threads;
    std::vector<cairn::stores::ownership> held(4);
    for (std::size_t i = 0; i < held.size(); ++i)
      threads.emplace_back([&, i] {
        auto store = where.store(with);
        const auto failure = sample::failure_of([&] { held[i] = store.lock(); });
        if (failure.sentence.empty())
          ++owners;
        else if (failure.code == cairn::errc::busy)
          ++busy;
      });
    for (auto& each : threads) each.join();
    CHECK(owners == 1);
    CHECK(busy == 3);
  }
  // Of those that publish the same checkpoint without a lock, one does.
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> published{0}, busy{0};
    const auto name = "round-" + std::to_string(round);
    std::vector<std::unique_ptr<cairn::stores::transaction>> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(where.store().begin(name));
      std::mt19937_64 random(static_cast<std::uint64_t>(i));
      contract::write(*all.back(), "index.json", std::to_string(i), random);
    }
    std::vector<std::thread> threads;
    for (const auto& each : all)
      threads.emplace_back([&, transaction = each.get()] {
        const auto failure = sample::failure_of([&] { transaction->publish(); });
        if (failure.sentence.empty())
          ++published;
        else if (failure.code == cairn::errc::busy)
          ++busy;
      });
    for (auto& each : threads) each.join();
    CHECK(published == 1);
    CHECK(busy == 7);
  }
}

TEST_CASE("a server: what it refuses is said in its words", "[.][real]") {
  place where;
  const auto refused = [](cairn::stores::s3 store) {
    return sample::failure_of([&] { static_cast<void>(store.list()); });
  };
  auto with = options();
  const auto missing = refused(cairn::stores::s3("s3://no-such-bucket-here/a", with));
  CHECK(missing.code == cairn::errc::io);
  CHECK(missing.says("NoSuchBucket"));
  with.credentials = [] { return cairn::stores::s3_credentials{.key_id = "AK", .secret = "wrong-secret"}; };
  const auto denied = refused(where.store(with));
  CHECK(denied.code == cairn::errc::io);
  CHECK(denied.says("SignatureDoesNotMatch"));
  CHECK_FALSE(denied.says("wrong-secret"));
  with = options();
  with.endpoint = "http://127.0.0.1:1";
  with.give_up_after = std::chrono::milliseconds(300);
  const auto unreachable = refused(where.store(with));
  CHECK(unreachable.code == cairn::errc::io);
  CHECK(unreachable.says("127.0.0.1"));
}
