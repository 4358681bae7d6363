// SPDX-License-Identifier: MIT
#include "cairn/chain/attempt.hpp"

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cairn/state/describe.hpp"
#include "cairn/store/writer.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "gate.hpp"

using cairn::detail::attempt;
using cairn::detail::encode_source;
using cairn::detail::save_job;

namespace {

save_job job_of(const chain::state& state) {
  save_job job{.name = "c", .what = cairn::detail::describe(state)};
  job.info = {.step = state.step, .metrics = {{"loss", 0.5}}, .notes = {{"note", {1, 2}}}};
  return job;
}

}  // namespace

TEST_CASE("shards may be added all at once or one by one: a reader gets the same values") {
  std::mt19937 random(3);
  const auto state = chain::start(random);
  const auto job = job_of(state);
  for (const std::size_t shards : {1U, 2U, 5U}) {
    for (const bool one_by_one : {false, true}) {
      cairn::any_store store = cairn::stores::memory();
      const auto pieces = cairn::detail::from_leaves<cairn::detail::staged_piece>(
          cairn::detail::divide_evenly(job.what.leaves, shards));
      encode_source source(store, job, shards);
      attempt making(store, job.name, source);
      static_cast<void>(making.begin());
      making.write(pieces, one_by_one);
      CHECK(store.list().empty());
      const auto report = source.published(making.publish());
      CHECK(report.path == "memory/c");
      CHECK(report.state_bytes == job.state_bytes());
      CHECK_FALSE(report.is_delta);
      CHECK(chain::restored(store, "c") == chain::bits_of(state));
      const cairn::detail::chain_reader reader(store, "c");
      CHECK(reader.step() == state.step);
      CHECK(reader.metrics().at("loss") == 0.5);
      CHECK(reader.newest().info().notes.at("note") == std::vector<double>{1, 2});
      CHECK(store.open("c")->files().size() == shards + 1);
    }
  }
}

TEST_CASE("an attempt that does not publish leaves the store as it was and clears the references of its base") {
  std::mt19937 random(4);
  auto state = chain::start(random);
  state.step = 1;
  cairn::any_store store = cairn::stores::memory();
  cairn::detail::delta_base base;
  auto job = job_of(state);
  job.codecs = chain::mixed_rules();
  static_cast<void>(cairn::detail::save_checkpoint(store, job, 1, &base));
  CHECK(base.has_references());
  auto next = job_of(state);
  next.name = "d";
  next.info.step = 2;
  next.codecs = chain::mixed_rules();
  SECTION("destroyed") {
    const auto pieces =
        cairn::detail::from_leaves<cairn::detail::staged_piece>(cairn::detail::divide_evenly(next.what.leaves, 1));
    encode_source source(store, next, 1, &base);
    attempt making(store, next.name, source);
    static_cast<void>(making.begin());
    making.write(pieces);
  }
  SECTION("a hook throws") {
    next.hooks.check = [] { throw std::runtime_error("no"); };
    CHECK_THROWS_AS(cairn::detail::save_checkpoint(store, next, 1, &base), std::runtime_error);
  }
  CHECK(store.list() == std::vector<std::string>{"c"});
  CHECK_FALSE(base.has_references());
  CHECK(base.parent()->name == "c");
}

TEST_CASE("hooks are called in order: progress up to all bytes, encoded, written") {
  std::mt19937 random(5);
  const auto state = chain::start(random);
  auto job = job_of(state);
  std::vector<std::string> calls;
  std::uint64_t last = 0, total = 0, checks = 0;
  job.threads = 1;
  job.hooks = {
      .check = [&] { ++checks; },
      .progress =
          [&](std::uint64_t bytes, std::uint64_t all) {
            CHECK(bytes >= last);
            last = bytes;
            total = all;
          },
      .encoded = [&](std::uint64_t bytes, double) { calls.push_back("encoded " + std::to_string(bytes > 0)); },
      .written = [&](std::uint64_t bytes, double) { calls.push_back("written " + std::to_string(bytes > 0)); }};
  cairn::any_store store = cairn::stores::memory();
  for (const bool one_by_one : {false, true}) {
    calls.clear();
    last = total = 0;
    const auto pieces =
        cairn::detail::from_leaves<cairn::detail::staged_piece>(cairn::detail::divide_evenly(job.what.leaves, 3));
    encode_source source(store, job, 3);
    attempt making(store, job.name, source);
    static_cast<void>(making.begin());
    if (one_by_one)
      for (std::size_t i = 0; i < 3; ++i) making.write(std::span(pieces).subspan(i, 1));
    else
      making.write(pieces);
    static_cast<void>(source.published(making.publish()));
    CHECK(calls == std::vector<std::string>{"encoded 1", "written 1"});
    CHECK(last > 0);
    CHECK(last == total);  // also of a save in parts
    CHECK(checks > 0);
  }
}

TEST_CASE("what a rank says of its shard is checked before the checkpoint is published") {
  const std::vector<float> values(64, 1.5F);
  auto job = save_job{.name = "step-000000001", .what = cairn::detail::describe(values)};
  job.common_leaves = job.what.leaves.size();
  job.info.step = 1;
  const std::vector<cairn::detail::piece> first{{0, 0, 32}}, second{{0, 32, 32}};
  /// The leader publishes with the record of the other rank, as `change` leaves it.
  const auto publish = [&](const std::function<void(cairn::detail::shard_record&)>& change) {
    cairn::any_store store = cairn::stores::memory();
    cairn::detail::delta_base of_leader, of_other;
    encode_source of_first(store, job, 2, &of_leader,
                           cairn::detail::rank_share{.pieces = first, .common = {first, second}});
    encode_source of_second(store, job, 2, &of_other, cairn::detail::rank_share{.pieces = second});
    attempt leader(store, job.name, of_first), other(store, job.name, of_second, 1);
    other.join(leader.begin());
    leader.write(cairn::detail::from_leaves<cairn::detail::staged_piece>({first}));
    other.write(cairn::detail::from_leaves<cairn::detail::staged_piece>({second}));
    auto record = cairn::detail::read_shard_record(other.record(), "a record");
    change(record);
    std::string what;
    try {
      leader.unite(std::vector{std::string(), cairn::detail::write_shard_record(record)});
      static_cast<void>(leader.publish());
    } catch (const cairn::error& cause) {
      CHECK(cause.code() == cairn::errc::corrupt);
      what = cause.what();
    }
    CHECK(store.list().size() == (what.empty() ? 1 : 0));
    return what;
  };
  CHECK(publish([](auto&) {}).empty());
  CHECK_THAT(publish([](auto& record) { record.encoded[1] = {"lossless", false, 9, cairn::loss{}}; }),
             Catch::Matchers::ContainsSubstring("memory/step-000000001: the record of a rank: there is no leaf 1"));
  CHECK_THAT(publish([](auto& record) { record.encoded[0] = {"lossless", true, 9, {}}; }),
             Catch::Matchers::ContainsSubstring("memory/step-000000001/index.json"));
  CHECK_THAT(publish([](auto& record) { record.shards.clear(); }),
             Catch::Matchers::ContainsSubstring("memory/step-000000001/index.json"));
}

TEST_CASE(
    "what rank 0 has published is told to the others as text, and a text that it cannot have written is refused") {
  const cairn::detail::published_checkpoint made{
      .bytes = 12, .id = 1ULL << 63U, .is_delta = true, .lost = {{"a", {.max_error = 0.5}}}, .stored = {3, 0, 9}};
  const auto text = cairn::detail::write_published(made);
  const auto read = cairn::detail::read_published(text);
  CHECK(read.bytes == made.bytes);
  CHECK(read.id == made.id);
  CHECK(read.is_delta);
  CHECK(read.stored == made.stored);
  CHECK(read.lost.at("a").max_error == 0.5);
  CHECK(cairn::detail::write_published(read) == text);
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    if (bytes == 7 * sizeof(std::uint64_t)) continue;  // without losses
    CHECK_THROWS_AS(cairn::detail::read_published(text.substr(0, bytes)), cairn::error);
  }
}
