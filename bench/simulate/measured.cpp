// SPDX-License-Identifier: MIT
// Saves of one process and of ranks in threads, into the page cache.
#include "simulate/measured.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <list>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/group/threads.hpp"
#include "cairn/plan/partition.hpp"
#include "common/clock.hpp"
#include "common/interleave.hpp"
#include "common/model_shapes.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"
#include "simulate/predict.hpp"

namespace bench {
namespace {

constexpr unsigned ranks_measured[] = {1, 2, 4};

struct model {
  std::vector<std::vector<float>> tensors;
};

/// Values as weights have them.
model state_of(const sizes& leaves) {
  std::mt19937 random(1);
  std::normal_distribution<float> value(0, 0.02F);
  model made;
  for (const auto& leaf : leaves) {
    auto& tensor = made.tensors.emplace_back(leaf.elements);
    for (auto& each : tensor) each = value(random);
  }
  return made;
}

/// `tensors` of equal size.
sizes even_state(std::uint64_t mib, std::size_t tensors) { return sizes(tensors, parameter((mib << 18U) / tensors)); }

/// One thread per save or rank.
cairn::checkpointer_options options_of(bool is_encoded) {
  cairn::checkpointer_options options;
  options.durable = false;
  options.asynchronous = false;
  options.threads = 1;
  options.shards = 1;
  if (is_encoded) options.codecs = {{"*", cairn::codecs::lossless{}}};
  return options;
}

/// Wall seconds from the first beginning to the last end of `threads` saves that begin together, each by a checkpointer
/// that `make(thread)` returns.
double seconds_of_saves(unsigned threads, const model& state,
                        const std::function<cairn::checkpointer(unsigned)>& make) {
  std::barrier together(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> begin(threads), end(threads);
  std::vector<std::exception_ptr> failures(threads);
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      try {
        auto checkpoints = make(thread);
        together.arrive_and_wait();
        begin[thread] = clock_seconds();
        checkpoints.save(state, {.step = 1});
        end[thread] = clock_seconds();
      } catch (...) {
        failures[thread] = std::current_exception();
        together.arrive_and_drop();
      }
    });
  for (auto& each : running) each.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
}

class machine_here {
 public:
  machine_here(const arguments& options)
      : folder_(options.text("directory"), "simulate"), patience_(static_cast<double>(options.count("wait"))) {}

  /// Seconds of `count` saves at the same time, of one process each as far as they know.
  double save_alone(const model& state, bool is_encoded, unsigned count = 1) {
    return clean([&] {
      return seconds_of_saves(count, state, [&](unsigned thread) {
        return cairn::checkpointer(folder_.path() / std::to_string(thread), options_of(is_encoded));
      });
    });
  }

  /// Seconds of one save by a group.
  double save_together(const model& state, bool is_encoded, unsigned ranks) {
    return clean([&] {
      auto group = cairn::groups::threads::make(ranks);
      return seconds_of_saves(ranks, state, [&](unsigned rank) {
        auto own = std::exchange(group[rank], group[rank]);
        auto options = options_of(is_encoded);
        options.shards = 0;
        return cairn::checkpointer(folder_.path() / "run", std::move(options), std::move(own));
      });
    });
  }

 private:
  template <class Save>
  double clean(const Save& save) {
    settle(std::size_t{640} << 20U, patience_);  // more than any save takes
    const double seconds = save();
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      std::filesystem::remove_all(entry.path());
    return seconds;
  }

  work_directory folder_;
  std::chrono::duration<double> patience_;
};

/// Saves of one kind, and the wall seconds of each repetition.
struct timed_save {
  std::function<double()> run;
  std::vector<double> seconds{};
};

/// Of saves of one process: their cost, and how many cores two of them at the same time have.
bench::machine machine_of(std::span<const measured_write> writes, double seconds_of_two) {
  constexpr double no_limit = 1e300;
  bench::machine on;
  on.encode = calibrate(writes);  // with the writes and all files
  on.cores_per_node = std::max(1.0, 2 * writes.back().seconds / seconds_of_two);
  on.copy = on.rank_link = on.node_link = on.write = on.read = on.files_per_second = no_limit;
  on.file = on.message = on.per_leaf = on.per_rank = 0;
  return on;
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
}

/// Saves with one codec.
class comparison {
 public:
  comparison(machine_here& here, const model& state, std::span<const sizes> samples, bool is_encoded) {
    for (const auto& leaves : samples) {
      samples_.push_back({bytes_of(leaves), leaves.size()});
      const auto& sample = states_.emplace_back(state_of(leaves));
      saves_.push_back({[&here, &sample, is_encoded] { return here.save_alone(sample, is_encoded); }});
    }
    const auto& last = states_.back();
    saves_.push_back({[&here, &last, is_encoded] { return here.save_alone(last, is_encoded, 2); }});
    for (const auto ranks : ranks_measured)
      saves_.push_back({[&here, &state, is_encoded, ranks] { return here.save_together(state, is_encoded, ranks); }});
  }

  std::span<timed_save> saves() { return saves_; }
  [[nodiscard]] bench::machine machine() const {
    auto writes = samples_;
    for (std::size_t i = 0; i < writes.size(); ++i) writes[i].seconds = median(saves_[i].seconds);
    return machine_of(writes, median(saves_[writes.size()].seconds));
  }
  /// Wall seconds of the i-th of `ranks_measured`.
  [[nodiscard]] const std::vector<double>& measured(std::size_t i) const {
    return saves_[samples_.size() + 1 + i].seconds;
  }

 private:
  std::vector<measured_write> samples_;
  std::list<model> states_;
  std::vector<timed_save> saves_;
};

}  // namespace

void compare_with_saves(const arguments& options, report& numbers) {
  const auto repetitions = options.count("reps");
  if (repetitions == 0) {
    numbers.at_most("simulate.error", median({}), 20);
    return;
  }
  machine_here here(options);
  const std::vector<sizes> samples{even_state(8, 8), even_state(8, 1024), even_state(192, 1024), even_state(192, 32)};
  const auto leaves = bert(12, 768);
  const auto state = state_of(leaves);
  std::printf("Saves of %zu tensors, %.0f MB, by 1, 2 and 4 threads as ranks: medians of %zu repetitions\n\n",
              leaves.size(), static_cast<double>(bytes_of(leaves)) / 1e6, repetitions);
  table rows({"codec", "ranks", "predicted ms", "measured ms", "predicted / measured", "quartiles"});
  double largest = 0, least = 0, most = 0;
  for (const bool is_encoded : {false, true}) {
    const std::string codec = is_encoded ? "lossless" : "raw";
    comparison saves(here, state, samples, is_encoded);
    interleave(saves.saves(), repetitions, [](timed_save& each, std::size_t) { each.seconds.push_back(each.run()); });
    const auto on = saves.machine();
    std::printf(
        "%s, one process: %.2f ms, %.3f ns per byte, %.1f us per tensor; two at the same time have %.2f cores\n",
        codec.c_str(), 1e3 * on.encode.base, 1e9 * on.encode.per_byte, 1e6 * on.encode.per_tensor, on.cores_per_node);
    for (std::size_t i = 0; i < std::size(ranks_measured); ++i) {
      const auto ranks = ranks_measured[i];
      const auto predicted = simulate({leaves, std::vector<cairn::plan::rank_load>(ranks)}, on).save();
      const auto& measured = saves.measured(i);
      const double ratio = predicted / median(measured), low = predicted / quantile(measured, 0.75),
                   high = predicted / quantile(measured, 0.25);
      rows.row({codec, std::to_string(ranks), text_of(1e3 * predicted, 1), text_of(1e3 * median(measured), 1),
                text_of(ratio, 3), text_of(low, 3) + " to " + text_of(high, 3)});
      numbers.number("simulate.ratio." + codec + "." + std::to_string(ranks), ratio);
      largest = std::max(largest, std::abs(ratio - 1));
      least = std::min(least, low - 1);
      most = std::max(most, high - 1);
    }
  }
  std::printf("\n");
  rows.print();
  numbers.at_most("simulate.error", 100 * largest, 20);
  numbers.number("simulate.error.lowest_quartile", 100 * least);
  numbers.number("simulate.error.highest_quartile", 100 * most);
}

}  // namespace bench
