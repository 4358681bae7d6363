#include "cairn/run/own_state.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cairn/fields.hpp"
#include "cairn/state/describe.hpp"
#include "catch.hpp"

using cairn::detail::common_leaves;
using cairn::detail::common_texts;
using cairn::detail::save_job;
using cairn::detail::separate_own;

namespace {

struct cursor {
  std::vector<std::vector<double>> files;
  std::uint64_t at = 0;
};

struct model {
  std::vector<float> weights;
  cairn::per_rank<cursor> data;
  std::map<std::string, cairn::per_rank<std::vector<double>>> seeds;
  std::optional<double> rate;
  std::uint64_t last = 0;
};

save_job job_of(const model& state, unsigned rank) {
  save_job job;
  job.what = cairn::detail::describe(state, {rank, 12});
  separate_own(job, rank);
  return job;
}

TEST_CASE("the state that a rank alone has comes last, and the rest does not depend on the rank") {
  model state{{1, 2, 3}, {{{{1}, {2, 3}}, 7}}, {{"rank1", {{1, 2}}}}, 0.5, 9};
  const auto first = job_of(state, 1);
  const auto& leaves = first.what.leaves;
  REQUIRE(leaves.size() > first.common_leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    INFO(leaves[i].path);
    const bool is_own = leaves[i].path.find("data.rank1") == 0 || leaves[i].path.find("seeds.rank1.rank1") == 0;
    CHECK(is_own == (i >= first.common_leaves));
  }
  for (const auto& [path, entry] : first.own_structure) CHECK(path.find("data.rank1") == 0);
  CHECK_FALSE(first.own_structure.empty());

  state.data.value = {{{1}, {}, {3}}, 8};
  state.seeds["rank1"].value = {3, 4, 5};
  const auto second = job_of(state, 11);
  CHECK(second.common_hash == first.common_hash);
  CHECK(common_texts(second) == common_texts(first));
  CHECK(common_leaves(second).size() == common_leaves(first).size());

  state.rate.reset();  // structure, and no leaf
  const auto third = job_of(state, 1);
  CHECK(third.common_hash != first.common_hash);
  CHECK(common_texts(third) != common_texts(first));
}

TEST_CASE("boxes of larger arrays are a rank's own") {
  save_job job;
  job.what.leaves.resize(2);
  job.what.leaves[0].path = "box";
  job.what.leaves[0].place = std::make_shared<cairn::detail::box_place>();
  job.what.leaves[1].path = "whole";
  separate_own(job, 0);
  CHECK(job.common_leaves == 1);
  CHECK(job.what.leaves.front().path == "whole");
}

}  // namespace
