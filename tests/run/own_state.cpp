// SPDX-License-Identifier: MIT
#include "cairn/run/own_state.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cairn/fields.hpp"
#include "cairn/state/describe.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::common_texts;
using cairn::detail::save_job;
using cairn::detail::separate_own;

namespace {

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

}  // namespace
