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
using cairn::detail::encode_state;
using cairn::detail::save_job;

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
    const auto of_first =
        encode_state(store, job, 2, &of_leader, cairn::detail::rank_share{.pieces = first, .common = {first, second}});
    const auto of_second = encode_state(store, job, 2, &of_other, cairn::detail::rank_share{.pieces = second});
    attempt leader(store, job.name, *of_first), other(store, job.name, *of_second, 1);
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
  const auto text = cairn::detail::to_json(made);
  const auto read = cairn::detail::from_json<cairn::detail::published_checkpoint>(text, "rank 0");
  CHECK(read.bytes == made.bytes);
  CHECK(read.id == made.id);
  CHECK(read.is_delta);
  CHECK(read.stored == made.stored);
  CHECK(read.lost.at("a").max_error == 0.5);
  CHECK(cairn::detail::to_json(read) == text);
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    CHECK_THROWS_AS(cairn::detail::from_json<cairn::detail::published_checkpoint>(text.substr(0, bytes), "rank 0"),
                    cairn::error);
}
