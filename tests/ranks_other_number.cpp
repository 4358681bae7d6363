// SPDX-License-Identifier: MIT
// Restores on any number of ranks: of what all ranks have, of boxes, and of the state of each rank; whole checkpoints
// and deltas.
#include "cairn/checkpointer.hpp"
#include "cairn/core/box.hpp"
#include "cairn/fields.hpp"
#include "cairn/load.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"

#include "catch.hpp"
#include "ranks.hpp"

namespace {

/// A packed matrix.
struct matrix {
  cairn::extents shape;
  std::vector<float> values;
};

}  // namespace

template <>
struct cairn::adapter<matrix> {
  static tensor_view<float> view(matrix& object) { return {object.values.data(), object.shape}; }
};

namespace {

/// Rank r of the new job takes what the ranks r, r + ranks, ... had.
struct deal {
  static std::vector<std::uint64_t> redistribute(const std::vector<std::vector<std::uint64_t>>& saved, unsigned rank,
                                                 unsigned ranks) {
    std::vector<std::uint64_t> mine;
    for (std::size_t from = rank; from < saved.size(); from += ranks)
      mine.insert(mine.end(), saved[from].begin(), saved[from].end());
    return mine;
  }
};

const cairn::extents whole{13, 17};

/// The state of one rank: an array that all have, the rank's part of two matrices, cut along rows and along columns,
/// and numbers of its own.
struct rank_state {
  std::vector<double> common;
  matrix rows, columns;
  cairn::extents first_row{0, 0}, first_column{0, 0};
  cairn::per_rank<std::vector<std::uint64_t>, deal> own;

  rank_state(unsigned rank, unsigned ranks) {
    const auto cut = [&](matrix& part, cairn::extents& first, std::size_t d) {
      first[d] = whole[d] * rank / ranks;
      part.shape = whole;
      part.shape[d] = whole[d] * (rank + 1) / ranks - first[d];
      part.values.resize(part.shape[0] * part.shape[1]);
    };
    cut(rows, first_row, 0);
    cut(columns, first_column, 1);
  }

  /// The values of a step, which differ little from those of the step before.
  void fill(std::uint64_t step, unsigned rank) {
    common.resize(5000);
    for (std::size_t i = 0; i < common.size(); ++i)
      common[i] = 1 + 1e-9 * static_cast<double>(i * i) + 1e-15 * static_cast<double>(step);
    const auto fill_part = [&](matrix& part, const cairn::extents& first, float scale) {
      for (std::size_t i = 0; i < part.shape[0]; ++i)
        for (std::size_t j = 0; j < part.shape[1]; ++j)
          part.values[i * part.shape[1] + j] =
              scale * static_cast<float>((first[0] + i) * whole[1] + first[1] + j) + static_cast<float>(step) / 1024;
    };
    fill_part(rows, first_row, 1.F);
    fill_part(columns, first_column, 2.F);
    own.value.assign(3 + rank, 1000 * step + rank);
  }

  [[nodiscard]] cairn::state as_state() {
    return {{"common", common},
            {"rows", cairn::shard_of(rows, whole, first_row)},
            {"columns", cairn::shard_of(columns, whole, first_column)},
            {"own", own}};
  }
};

constexpr unsigned most_ranks = 6;
constexpr std::uint64_t steps = 3;  // a whole checkpoint and two deltas

void save_steps(const cairn::any_store& store, unsigned ranks, bool in_background) {
  CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
          options.chain = {.anchor_every = steps + 1};
          options.when = cairn::policies::every_steps{1};
          cairn::checkpointer checkpoints(store, options, group);
          rank_state state(group.rank(), group.size());
          for (std::uint64_t step = 1; step <= steps; ++step) {
            state.fill(step, group.rank());
            const auto report = save_at(checkpoints, state.as_state(), step, in_background);
            require(report.is_delta == (step > 1), "not whole first, and then deltas");
          }
        }) == std::vector<std::string>(ranks));
}

TEST_CASE("what N ranks save in any way, M ranks restore: whole checkpoints and deltas") {
  for (unsigned saved = 1; saved <= most_ranks; ++saved) {
    const cairn::any_store store = cairn::stores::memory();
    save_steps(store, saved, saved % 2 == 0);
    for (unsigned loaded = 1; loaded <= most_ranks; ++loaded)
      for (std::uint64_t step = 1; step <= steps; ++step)
        for (const auto how : {cairn::read_sharing::never, cairn::read_sharing::always}) {
          INFO(saved << " -> " << loaded << ", step " << step << ", sharing " << static_cast<int>(how));
          std::vector<std::vector<std::uint64_t>> own(loaded);
          CHECK(at_each(loaded, [&](const cairn::groups::threads& group) {
                  cairn::checkpointer checkpoints(store, quick(), group);
                  rank_state state(group.rank(), group.size()), wanted(group.rank(), group.size());
                  wanted.fill(step, group.rank());
                  auto all = state.as_state();
                  const auto report = checkpoints.restore(all, {.step = step, .sharing = how});
                  require(report && report->links == step, "not restored along the chain");
                  require(state.common == wanted.common, "another common array");
                  require(state.rows.values == wanted.rows.values, "other rows");
                  require(state.columns.values == wanted.columns.values, "other columns");
                  if (saved == loaded) require(state.own.value == wanted.own.value, "another state of the rank");
                  own[group.rank()] = state.own.value;
                }) == std::vector<std::string>(loaded));
          std::multiset<std::uint64_t> all, expected;
          for (const auto& each : own) all.insert(each.begin(), each.end());
          for (unsigned rank = 0; rank < saved; ++rank)
            for (unsigned i = 0; i < 3 + rank; ++i) expected.insert(1000 * step + rank);
          CHECK(all == expected);
        }
  }
}

TEST_CASE("a rank opens only the shards that have its boxes") {
  const cairn::extents lines{60, 50};
  const auto part_of = [&](unsigned rank, unsigned ranks) {
    const auto first = lines[0] * rank / ranks, end = lines[0] * (rank + 1) / ranks;
    return cairn::detail::box{{first, 0}, {end - first, lines[1]}};
  };
  for (unsigned saved = 1; saved <= most_ranks; ++saved) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(saved, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, quick(), group);
            const auto part = part_of(group.rank(), saved);
            matrix own{part.shape, std::vector<float>(part.count(), 1.F)};
            checkpoints.save(cairn::state{{"w", cairn::shard_of(own, lines, part.first)}}, {.step = 1});
          }) == std::vector<std::string>(saved));
    auto shards = store.open("step-000000001")->files();
    std::erase(shards, "index.json");
    std::sort(shards.begin(), shards.end());  // in order of rank
    REQUIRE(shards.size() == saved);
    for (unsigned loaded = 1; loaded <= most_ranks; ++loaded) {
      INFO(saved << " -> " << loaded);
      CHECK(at_each(loaded, [&](const cairn::groups::threads& group) {
              std::mutex mutex;
              std::set<std::string> opened;
              const hooked_store counted{store, {.before_open = [&](std::string_view, std::string_view file) {
                                           const std::lock_guard lock(mutex);
                                           opened.emplace(file);
                                         }}};
              const auto part = part_of(group.rank(), loaded);
              matrix own{part.shape, std::vector<float>(part.count())};
              cairn::checkpointer checkpoints(counted, quick(), group);
              cairn::state all{{"w", cairn::shard_of(own, lines, part.first)}};
              const auto report = checkpoints.restore(all);
              require(report && own.values == std::vector<float>(part.count(), 1.F), "not restored");
              std::set<std::string> needed;
              for (unsigned rank = 0; rank < saved; ++rank) {
                const auto stored = part_of(rank, saved);
                if (stored.first[0] < part.first[0] + part.shape[0] &&
                    part.first[0] < stored.first[0] + stored.shape[0])
                  needed.insert(shards[rank]);
              }
              if (group.rank() == 0) needed.insert("index.json");  // the leader reads it for all
              require(opened == needed, "other files are opened");
            }) == std::vector<std::string>(loaded));
    }
  }
}

}  // namespace
