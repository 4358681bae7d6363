// SPDX-License-Identifier: MIT
#include "cairn/run/shares.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cairn/fields.hpp"
#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

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

struct pair {
  float a = 0, b = 0;
};
struct columns {
  std::vector<float> a, b;
};

TEST_CASE("an array of records and an array of each field are different states, though all paths and shapes agree") {
  save_job records, arrays;
  records.what = cairn::detail::describe(std::vector<pair>(3));
  arrays.what = cairn::detail::describe(columns{{1, 2, 3}, {4, 5, 6}});
  for (auto* job : {&records, &arrays}) separate_own(*job, 0);
  CHECK(common_texts(arrays) == std::vector<std::string>{"a F32[3]", "b F32[3]"});
  CHECK(common_texts(records) == std::vector<std::string>{"a F32[3]", "b F32[3] in records"});
  CHECK(records.common_hash != arrays.common_hash);
}

using vector_pointer = std::shared_ptr<std::vector<float>>;

struct own_first {
  cairn::per_rank<vector_pointer> own;
  std::map<std::string, vector_pointer> common;
};
struct own_last {
  vector_pointer common;
  cairn::per_rank<std::vector<vector_pointer>> own;
};

TEST_CASE("an object of all ranks cannot come first in the state of one") {
  const auto separated = [](const auto& state, unsigned ranks) {
    save_job job;
    job.what = cairn::detail::describe(state, {1 % ranks, ranks});
    separate_own(job, 1 % ranks);
    return job.common_leaves;
  };
  const auto shared = std::make_shared<std::vector<float>>(3), other = std::make_shared<std::vector<float>>(4);
  const auto failure = sample::failure_of([&] { separated(own_first{{shared}, {{"a", other}, {"b", shared}}}, 2); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("common.b is the same object as own.rank1"));
  CHECK(failure.says("put it before that in the state"));
  CHECK(separated(own_first{{shared}, {{"a", other}}}, 2) == 1);
  CHECK(separated(own_first{{shared}, {{"a", other}, {"b", shared}}}, 1) == 1);  // one rank: at one path in any case
  CHECK(separated(own_last{shared, {{shared, other, other}}}, 2) == 1);
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
