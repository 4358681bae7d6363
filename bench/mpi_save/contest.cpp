// SPDX-License-Identifier: MIT
// Ways of saving in turn: replicated and sharded states, durable and not.
#include "mpi_save/contest.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include <unistd.h>

#include "cairn/state/describe.hpp"
#include "common/interleave.hpp"
#include "common/statistics.hpp"
#include "mpi_save/way.hpp"

namespace bench {
namespace {

/// A peer, and what its seconds over those of Cairn should be at least; 0: no bound.
struct peer {
  const char* figure;
  way (*make)(const job&, const dimensions&);
  double bound;
};

struct contest {
  unsigned ranks;
  bool is_sharded, is_durable;
  std::vector<peer> peers;
  bool is_in_background = false;
};

template <way (*Make)(const job&)>
way without_shapes(const job& of, const dimensions& /*shapes*/) {
  return Make(of);
}

constexpr auto blobs = without_shapes<blobs_way>, rank0 = without_shapes<rank0_way>,
               gather = without_shapes<gather_way>, everyone = without_shapes<everyone_way>,
               mpi_io = without_shapes<mpi_io_way>;

std::vector<contest> all_contests() {
  std::vector<contest> all{
      {2, false, false, {{"over_rank0", rank0, 1.6}, {"over_gather", gather, 2.0}}},
      {4, false, false, {{"over_mpi_io", mpi_io, 1.0}, {"over_every_rank_all", everyone, 0}}},
      {4, false, true, {{"over_plain_mpi_write", blobs, 0.85}, {"over_mpi_io.durable", mpi_io, 1.0}}},
      {4, true, false, {{"sharded.over_mpi_io", mpi_io, 1.0}, {"sharded.over_gather", gather, 0}}},
      {4, true, true, {{"sharded.over_plain_mpi_write", blobs, 0.85}, {"sharded.over_mpi_io.durable", mpi_io, 1.0}}}};
#ifdef CAIRN_BENCH_HDF5
  for (std::size_t i = 1; i < all.size(); ++i) {
    constexpr const char* names[] = {"over_parallel_hdf5", "over_parallel_hdf5.durable", "sharded.over_parallel_hdf5",
                                     "sharded.over_parallel_hdf5.durable"};
    all[i].peers.push_back({names[i - 1], hdf5_way, 1.0});
  }
#endif
  all.push_back({4, false, false, {{"over_blobs", blobs, 0.7}}, true});
  all[1].peers.push_back({"over_plain_mpi_write.cached", blobs, 0});
  all[3].peers.push_back({"sharded.over_plain_mpi_write.cached", blobs, 0});
  return all;
}

/// A way and the seconds of its saves.
struct contender {
  way how;
  std::vector<double> seconds{};
};

/// Not timed: all of it, by rank 0 but for what Cairn removes.
void remove(const world& ranks, const way& how, const std::string& path) {
  if (ranks.is_first()) ::sync();  // what is deleted dirty is never written
  ranks.meet();
  if (how.remove) how.remove();
  if (ranks.is_first()) std::filesystem::remove_all(path);
  ranks.meet();
}

void save_once(const job& of, contender& each, const contest& what, const setting& how, bool is_checked) {
  const auto path = of.directory + "/saved";
  if (of.ranks.is_first()) std::filesystem::create_directory(path);
  const auto spare = of.part.whole_bytes + of.part.whole_bytes / 4;
  of.ranks.settle(spare, how.patience);
  if (each.how.prepare) each.how.prepare();
  of.ranks.meet();
  each.seconds.push_back(of.ranks.seconds_of([&] { each.how.save(path, what.is_durable); }));
  const bool is_one_file = std::filesystem::exists(path + "/0") && !std::filesystem::exists(path + "/1");
  if (is_checked && of.ranks.is_first() && is_one_file && of.all != nullptr && each.how.name != "parallel HDF5" &&
      !has_bytes(path + "/0", *of.all))
    throw std::runtime_error(each.how.name + " has written other bytes");
  remove(of.ranks, each.how, path);
}

void run(const contest& what, const job& of, const setting& how, report& numbers) {
  std::vector<contender> ways{{what.is_in_background ? cairn_background_way(of) : cairn_way(of, what.is_durable)}};
  for (const auto& each : what.peers) ways.push_back({each.make(of, how.shapes)});
  interleave(std::span(ways), how.repetitions,
             [&](contender& each, std::size_t repetition) { save_once(of, each, what, how, repetition == 0); });
  if (of.ranks.is_first())
    std::printf("%u ranks, %s, %s: %.3f GiB, medians of %zu\n\n", what.ranks,
                what.is_sharded ? "a box of each array" : "the same state", what.is_durable ? "durable" : "not durable",
                static_cast<double>(of.part.whole_bytes) / (1U << 30U), how.repetitions);
  table rows({"way", "seconds", "least", "most", "GB/s", "over cairn"});
  for (const auto& each : ways) {
    const auto [least, most] = std::minmax_element(each.seconds.begin(), each.seconds.end());
    rows.row({each.how.name, text_of(median(each.seconds), 3), text_of(*least, 3), text_of(*most, 3),
              text_of(static_cast<double>(of.part.whole_bytes) / median(each.seconds) / 1e9),
              text_of(median_ratio(each.seconds, ways.front().seconds), 3)});
  }
  if (of.ranks.is_first()) rows.print();
  std::fflush(stdout);
  for (std::size_t i = 0; i < what.peers.size(); ++i) {
    const auto ratio = median_ratio(ways[i + 1].seconds, ways.front().seconds);
    const auto name = std::string(what.is_in_background ? "mpi_background." : "mpi_save.") + what.peers[i].figure;
    if (what.peers[i].bound > 0)
      numbers.at_least(name, ratio, what.peers[i].bound);
    else
      numbers.number(name, ratio);
  }
}

}  // namespace

void compare_saves(const world& all, const setting& how, report& numbers) {
#ifndef CAIRN_BENCH_HDF5
  if (all.is_first()) std::printf("built without parallel HDF5: its rows are left out\n\n");
  numbers.at_least("mpi_save.over_parallel_hdf5", std::numeric_limits<double>::quiet_NaN(), 1.0);
#endif
  const auto directory = how.directory.string();
  training_state state;
  const auto run_one = [&](const contest& what, const std::function<void(const world&)>& act) {
    if (all.with_first(what.ranks, act) || !all.is_first()) return;
    std::printf("%u ranks are needed for a comparison: left out\n\n", what.ranks);
  };
  const auto contests = all_contests();
  for (const auto& what : contests) {
    if (what.is_sharded) continue;
    if (state.weights.blocks.empty()) {
      state = make_state(how.shapes);
      fill(state);
    }
    run_one(what, [&](const world& ranks) {
      const auto part = equal_part(state, ranks), whole = all_of(state);
      run(what, {ranks, part, &whole, cairn::refer(state), directory}, how, numbers);
    });
  }
  state = {};
  for (const auto& what : contests) {
    if (!what.is_sharded) continue;
    run_one(what, [&](const world& ranks) {
      auto boxes = sharded_state::make(how.shapes, 0, ranks.rank(), ranks.size());
      boxes.fill();
      const auto part = boxes_of(boxes, ranks);
      run(what, {ranks, part, nullptr, cairn::refer(boxes), directory}, how, numbers);
    });
  }
}

}  // namespace bench
