// SPDX-License-Identifier: MIT
// Experiments beside the comparison of methods.
#include "rework/probes.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "cairn/encode/lc/buckets.hpp"
#include "rework/methods.hpp"

namespace bench::rework {
namespace {

using models::part;

/// Calls `body(bucket, element before, element after)` for the elements that differ.
template <class Body>
void for_each_change(const models::arrays& before, models::arrays& after, const Body& body) {
  for (std::size_t i = 0; i < after.size(); ++i)
    for (Eigen::Index j = 0; j < after[i].size(); ++j) {
      const float old = before[i].data()[j];
      float& now = after[i].data()[j];
      if (const float delta = now - old; delta != 0) body(cairn::detail::lc::key_of(delta), old, now);
    }
}

/// The score at the end of a run that fails after each of `restarts` periods, and is restored.
models::score train_with_restarts(const models::setting& model, std::uint64_t seed, std::size_t restarts,
                                  const codec_setting& how) {
  auto run = model.start(seed);
  const auto writer = write_by_cairn(*run, part::weights_and_optimizer, how);
  const auto failures = failure_periods(model.periods, restarts);
  for (std::uint64_t p = 1, next = 0; p <= model.periods; ++p) {
    while (run->iteration() < p * model.period) run->step();
    writer->save(*run, 0);
    if (next == failures.size() || failures[next] != p) continue;
    ++next;
    run = model.start(seed);
    writer->restore(*run);
  }
  return run->test();
}

}  // namespace

void probe_buckets(const models::setting& model, std::uint64_t seed, const undisturbed_run& of, report& numbers) {
  const auto& checkpoints = of.checkpoints;
  const auto& before = checkpoints[checkpoints.size() / 2 - 1];
  const auto& after = checkpoints[checkpoints.size() / 2];
  const auto run = model.start(seed);
  run->go_to(after);
  const double whole = run->loss();
  run->go_to(before);
  const double gained = run->loss() - whole;
  std::map<cairn::detail::lc::bucket_key, std::size_t> counts;
  auto counted = after;
  for_each_change(before.weights, counted.weights, [&](auto key, float, float&) { ++counts[key]; });
  table rows({"bucket of the delta", "elements", "change of the loss", "of the period's progress, %"});
  for (const auto& [key, count] : counts) {
    auto without = after;
    for_each_change(before.weights, without.weights, [&, dropped = key](auto each, float old, float& now) {
      if (each == dropped) now = old;
    });
    run->go_to(without);
    const double change = run->loss() - whole;
    const int exponent = static_cast<int>(key % 256) - 127;
    const std::string sign = key < 256 ? "plus" : "minus";
    rows.row({(key < 256 ? "+2^" : "-2^") + std::to_string(exponent), std::to_string(count), text_of(change, 7),
              text_of(100 * change / gained)});
    numbers.number(
        "importance." + model.name + '.' + sign + (exponent < 0 ? ".m" : ".p") + std::to_string(std::abs(exponent)),
        change);
  }
  std::printf("%s: one bucket dropped from the delta of period %zu\n\n", model.name.c_str(), checkpoints.size() / 2);
  rows.print();
}

void probe_restarts(const models::setting& model, const std::map<std::uint64_t, models::score>& undisturbed,
                    const std::vector<std::size_t>& restarts, report& numbers) {
  const bool by_loss = model.name.starts_with("gpt");
  table rows({"restarts", "lc3, default", "lc2, with a bound"});
  for (const auto count : restarts) {
    std::vector<std::string> cells{std::to_string(count)};
    for (const auto& [how, name] : {std::pair(default_lc3(), "lc3"), std::pair(lc2_contract(), "lc2_contract")}) {
      double lost = 0;
      for (const auto& [seed, test] : undisturbed) {
        double one = std::numeric_limits<double>::quiet_NaN();
        try {
          const auto score = train_with_restarts(model, seed, count, how);
          one = by_loss ? 100 * (score.loss / test.loss - 1) : 100 * (test.accuracy - score.accuracy);
        } catch (const std::runtime_error& failure) {
          std::printf("%s, %zu restarts, %s: %s\n", model.name.c_str(), count, name, failure.what());
        }
        lost += one / static_cast<double>(undisturbed.size());
      }
      cells.push_back(text_of(lost, 3));
      const auto key = std::string("accuracy_loss.") + (model.name == "lenet" ? "" : model.name + '.') + name +
                       "_after_" + std::to_string(count) + "_restores";
      if (count == 10)
        numbers.at_most(key, lost, 0.5);
      else
        numbers.number(key, lost);
    }
    rows.row(cells);
  }
  std::printf("%s: what restarts cost at the end, in %s; mean of %zu seeds\n\n", model.name.c_str(),
              by_loss ? "% of the loss" : "points of accuracy", undisturbed.size());
  rows.print();
}

saved_percent probe_steps(const std::string& model, const undisturbed_run& run, report& numbers) {
  const auto& checkpoints = run.checkpoints;
  std::vector<parameter> parameters;
  for (const auto& array : checkpoints.front().weights)
    parameters.push_back({std::to_string(parameters.size()), static_cast<std::size_t>(array.rows()),
                          static_cast<std::size_t>(array.cols())});
  weight_chain chain;
  for (const auto& checkpoint : checkpoints) {
    auto& values = chain.snapshots.emplace_back();
    for (const auto& array : checkpoint.weights) values.emplace_back(array.data(), array.data() + array.size());
  }
  std::printf("%s: ", model.c_str());
  return print_breakdown(parameters, chain, "breakdown." + model, numbers);
}

}  // namespace bench::rework
