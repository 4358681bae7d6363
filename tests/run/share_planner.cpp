// SPDX-License-Identifier: MIT
#include "cairn/run/share_planner.hpp"

#include <cstdint>

#include "cairn/state/describe.hpp"
#include "catch.hpp"

using cairn::detail::save_job;
using cairn::detail::share_planner;

namespace {

save_job two_leaves(std::uint64_t first, std::uint64_t second) {
  save_job job;
  auto& leaves = job.what.leaves;
  leaves.resize(2);
  leaves[0].path = "a";
  leaves[0].shape = {first};
  leaves[1].path = "b";
  leaves[1].shape = {second};
  for (auto& each : leaves) each.type = cairn::dtype::f32;
  cairn::detail::separate_own(job, 0);
  return job;
}

std::uint64_t elements_of(const cairn::plan::partition& plan, std::size_t rank) {
  std::uint64_t sum = 0;
  for (const auto& each : plan.pieces_of(rank)) sum += each.count;
  return sum;
}

TEST_CASE("shares follow the weights of the ranks, and the bytes that were stored") {
  const auto job = two_leaves(1'000'000, 1'000'000);
  share_planner planner;
  const std::uint64_t weights[] = {3, 1};
  planner.set_weights(weights);
  CHECK(elements_of(planner.plan_for(job), 0) / 100'000 == 15);

  planner.saved(job, {400'000, 3'600'000, 0, 0});  // `a` takes a tenth of its bytes
  const auto plan = planner.plan_for(job);
  CHECK(elements_of(plan, 1) / 10'000 == 27);  // a quarter of the bytes lies in the end of `b`
  CHECK(elements_of(plan, 0) + elements_of(plan, 1) == 2'000'000);

  // Other sizes: in proportion.
  const auto longer = planner.plan_for(two_leaves(2'000'000, 2'000'000));
  CHECK(elements_of(longer, 1) / 10'000 == 55);
  // Another leaf: its own bytes.
  auto other = two_leaves(1'000'000, 1'000'000);
  other.what.leaves[0].path = "c";
  cairn::detail::separate_own(other, 0);
  CHECK(elements_of(planner.plan_for(other), 1) / 10'000 == 52);  // a quarter of 4 and 3.6 million bytes
}

TEST_CASE("arrays that took no bytes, and empty ones, are in some share") {
  const auto job = two_leaves(0, 10);
  share_planner planner;
  const std::uint64_t weights[] = {1, 1, 1};
  planner.set_weights(weights);
  planner.saved(job, {0, 0, 0, 0, 0});
  std::size_t pieces = 0;
  for (std::size_t rank = 0; rank < 3; ++rank) pieces += planner.plan_for(job).pieces_of(rank).size();
  CHECK(pieces == 2);
}

TEST_CASE("a rank that has more state of its own writes less of the common one, and always all of its own") {
  auto job = two_leaves(1'000'000, 1'000'000);
  share_planner planner;
  const std::uint64_t weights[] = {1, 1};
  planner.set_weights(weights);
  planner.saved(job, {4'000'000, 4'000'000, 2'000'000, 0});
  const auto plan = planner.plan_for(job);
  CHECK(elements_of(plan, 0) / 10'000 == 75);

  auto& own = job.what.leaves.emplace_back(job.what.leaves.front());
  own.path = "c.rank0";
  own.shape = {7};
  const auto share = cairn::detail::share_of(job, plan, 0);
  CHECK(share.size() == plan.pieces_of(0).size() + 1);
  CHECK(share.back() == cairn::detail::piece{2, 0, 7});
}

TEST_CASE("ranks agree on the state, the plan, and the deltas that are not merged") {
  const auto job = two_leaves(100'000, 100'000), other = two_leaves(100'000, 100'001);
  share_planner planner, uneven;
  const std::uint64_t weights[] = {1, 1}, other_weights[] = {1, 2};
  planner.set_weights(weights);
  uneven.set_weights(other_weights);
  const auto hash = cairn::detail::agreement_hash(job, planner.plan_for(job), 3);
  CHECK(hash > 1);
  CHECK(cairn::detail::agreement_hash(job, planner.plan_for(job), 3) == hash);
  CHECK(cairn::detail::agreement_hash(other, planner.plan_for(job), 3) != hash);
  CHECK(cairn::detail::agreement_hash(job, uneven.plan_for(job), 3) != hash);
  CHECK(cairn::detail::agreement_hash(job, planner.plan_for(job), 4) != hash);
}

}  // namespace
