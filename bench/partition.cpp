// SPDX-License-Identifier: MIT
// Plans the saves of several ranks that hold the same state: how long that takes, and how even the bytes and pieces of
// the ranks are.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/plan/partition.hpp"
#include "common/arguments.hpp"
#include "common/interleave.hpp"
#include "common/model_shapes.hpp"
#include "common/report.hpp"
#include "common/statistics.hpp"
#if defined(CAIRN_BENCH_LENET)
#include "partition/encoded.hpp"
#endif

namespace {

using namespace bench;
using cairn::plan::leaf_size;
using cairn::plan::partition;
using cairn::plan::rank_load;

constexpr std::string_view usage =
    "partition [--leaves 1000000] [--ranks 4096] [--reps 21] [--directory .] [--json FILE]\n"
    "  Plans saves of BERT-large on 2 to 16,384 ranks, and of a random state of many leaves. Saves LeNet-5 with four "
    "ranks, into a new\n"
    "  directory in --directory that is deleted afterwards.\n";

std::vector<rank_load> equal(std::size_t ranks) { return std::vector<rank_load>(ranks); }

/// Leaves of all sizes from 4 bytes to 4 MiB: each power of two as likely as the others, half of them matrices.
sizes random_state(std::size_t leaves) {
  std::mt19937_64 random(1);
  sizes all;
  all.reserve(leaves);
  while (all.size() < leaves) {
    const auto row = random() % 2 == 0 ? 1 : std::uint64_t{1} << random() % 10;
    const auto elements = (std::uint64_t{1} << random() % 20) + random() % 1000;
    all.push_back(parameter((elements + row - 1) / row, row));
  }
  return all;
}

/// The largest over the mean, of all ranks.
struct unevenness {
  double bytes = 0, pieces = 0, mean_pieces = 0;
};

unevenness unevenness_of(const std::vector<double>& bytes, const std::vector<double>& pieces) {
  const auto of = [](const std::vector<double>& list) {
    double sum = 0;
    for (const auto each : list) sum += each;
    const auto mean = sum / static_cast<double>(list.size());
    return std::pair(*std::max_element(list.begin(), list.end()) / mean, mean);
  };
  return {of(bytes).first, of(pieces).first, of(pieces).second};
}

unevenness of_plan(const sizes& leaves, std::size_t ranks) {
  const partition plan(leaves, equal(ranks));
  std::vector<double> bytes, pieces;
  for (const auto& shard : plan.pieces()) {
    std::uint64_t sum = 0;
    for (const auto& each : shard) sum += plan.bytes_of(each);
    bytes.push_back(static_cast<double>(sum));
    pieces.push_back(static_cast<double>(shard.size()));
  }
  return unevenness_of(bytes, pieces);
}

/// The peer: equal intervals of the bytes of all leaves.
unevenness of_intervals(const sizes& leaves, std::size_t ranks) {
  std::uint64_t total = 0;
  for (const auto& leaf : leaves) total += leaf.bytes / 4;
  std::vector<double> bytes, pieces(ranks);
  const auto end_of = [&](std::size_t rank) { return total * (rank + 1) / ranks; };
  std::uint64_t before = 0;
  std::size_t rank = 0;
  for (const auto& leaf : leaves) {
    const auto end = before + leaf.bytes / 4;
    for (++pieces[rank]; rank + 1 < ranks && end_of(rank) <= end; ++rank)
      if (end_of(rank) < end) ++pieces[rank + 1];
    before = end;
  }
  for (rank = 0; rank < ranks; ++rank)
    bytes.push_back(static_cast<double>(4 * (end_of(rank) - (rank == 0 ? 0 : end_of(rank - 1)))));
  return unevenness_of(bytes, pieces);
}

void compare_balance(report& numbers) {
  const auto weights = bert_large(), adam = with_adam(weights);
  std::uint64_t parameters = 0;
  for (const auto& leaf : weights) parameters += leaf.elements;
  for (const auto& [name, key, leaves] :
       {std::tuple("weights", "weights", &weights), std::tuple("weights and both Adam moments", "adam", &adam)}) {
    std::printf("BERT-large, %s: %zu tensors, %.1f million parameters. Largest over mean of all ranks.\n\n", name,
                leaves->size(), static_cast<double>(parameters) / 1e6);
    table rows({"ranks", "bytes", "pieces", "pieces, mean", "pieces, equal intervals", "mean"});
    for (const std::size_t ranks : {2U, 4U, 8U, 16U, 32U, 64U, 128U, 256U, 512U, 1024U, 4096U, 16'384U}) {
      const auto own = of_plan(*leaves, ranks), peer = of_intervals(*leaves, ranks);
      rows.row({std::to_string(ranks), text_of(own.bytes, 4), text_of(own.pieces, 3), text_of(own.mean_pieces),
                text_of(peer.pieces, 3), text_of(peer.mean_pieces)});
      const auto suffix = std::string(".") + key + "." + std::to_string(ranks);
      numbers.number("bytes" + suffix, own.bytes);
      numbers.number("pieces" + suffix, own.pieces);
      numbers.number("pieces_of_intervals" + suffix, peer.pieces);
    }
    rows.print();
  }
  for (const std::size_t ranks : {2U, 16U, 64U, 1024U})
    numbers.at_most("balance.bert_large." + std::to_string(ranks), of_plan(adam, ranks).bytes, 1.01);
  numbers.at_most("balance_tensors.bert_large.64.weights", of_plan(weights, 64).pieces, 1.15);
  numbers.at_most("balance_tensors.bert_large.64.adam", of_plan(adam, 64).pieces, 1.15);
}

/// Plans of a state, and the seconds that their parts take.
struct timed_state {
  explicit timed_state(sizes state) : leaves(std::move(state)) {}

  void measure(std::size_t ranks) {
    auto copy = leaves;
    auto loads = equal(ranks);
    std::vector<partition> made;
    made.reserve(1);
    plan.push_back(seconds_of([&] { made.emplace_back(std::move(copy), std::move(loads)); }));
    hash.push_back(seconds_of([&] { seen += made[0].hash().low; }));
    own.push_back(seconds_of([&] { seen += made[0].pieces_of(ranks / 2).size(); }));
    all.push_back(seconds_of([&] { seen += made[0].pieces().size(); }));
    total.push_back(plan.back() + hash.back() + all.back());
  }
  [[nodiscard]] double ns_per_leaf() const { return 1e9 * median(total) / static_cast<double>(leaves.size()); }

  sizes leaves;
  std::vector<double> plan{}, hash{}, own{}, all{}, total{};
  std::uint64_t seen = 0;  // keeps the results in use
};

void time_plans(const arguments& options, report& numbers) {
  const auto ranks = options.count("ranks"), many = options.count("leaves");
  std::vector<timed_state> states;
  for (const auto leaves : {std::size_t{10'000}, std::size_t{100'000}, many}) states.emplace_back(random_state(leaves));
  interleave(std::span(states), options.count("reps"), [&](timed_state& state, std::size_t) { state.measure(ranks); });
  std::printf("Milliseconds for %zu ranks, one thread, medians of %zu\n\n", ranks, options.count("reps"));
  table rows({"leaves", "plan", "hash", "pieces of one rank", "pieces of all", "plan, hash, all", "ns per leaf"});
  for (const auto& state : states) {
    const auto text = [](const std::vector<double>& seconds) { return text_of(1e3 * median(seconds), 3); };
    rows.row({std::to_string(state.leaves.size()), text(state.plan), text(state.hash), text(state.own), text(state.all),
              text(state.total), text_of(state.ns_per_leaf(), 1)});
    numbers.number("plan.ns_per_leaf." + std::to_string(state.leaves.size()), state.ns_per_leaf());
  }
  rows.print();
  const bool is_usual = many == 1'000'000 && ranks == 4096;
  numbers.at_most("plan.seconds_1e6_leaves_4096_ranks", is_usual ? median(states.back().total) : median({}), 0.15);
  numbers.at_most("plan.growth", is_usual ? median_ratio(states.back().total, states.front().total) / 100 : median({}),
                  1.5);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const arguments options(
        argc, argv, {{"leaves", "1000000"}, {"ranks", "4096"}, {"reps", "21"}, {"directory", "."}, {"json", ""}},
        usage);
    report numbers;
    compare_balance(numbers);
#if defined(CAIRN_BENCH_LENET)
    measure_encoded_balance(options, numbers);
#endif
    time_plans(options, numbers);
    numbers.print_figures();
    numbers.write_json(options.text("json"));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "partition: %s\n", failure.what());
    return 1;
  }
}
