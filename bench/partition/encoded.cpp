// SPDX-License-Identifier: MIT
// Saves of a real trainer by four ranks, and the sizes of their files.
#include "partition/encoded.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/adapters/eigen.hpp"
#include "cairn/checkpointer.hpp"
#include "cairn/group/threads.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"
#include "lenet/drawn.hpp"
#include "lenet/trainer.hpp"

namespace bench {
namespace {

constexpr unsigned ranks = 4;
constexpr std::uint64_t saves = 8, steps_between = 20;

cairn::checkpointer_options lossless_and_whole() {
  cairn::checkpointer_options options;
  options.durable = false;
  options.codecs = {{"*", cairn::codecs::lossless{}}};
  options.when = cairn::policies::every_steps{steps_between};
  options.on_busy = cairn::when_busy::wait;
  options.threads = 1;
  return options;
}

/// One rank, which computes all steps itself, so that all ranks have the same state.
template <class Optimizer>
void train_and_save(const lenet::dataset& images, const std::filesystem::path& run, cairn::groups::threads rank) {
  cairn::checkpointer checkpoints(run, lossless_and_whole(), std::move(rank));
  auto state = lenet::start<Optimizer>(images.size(), {.seed = 1, .batch = 32, .epochs = 1000});
  checkpoints.restore(state);
  for (const cairn::batch& batch : state.data) {
    const float loss = lenet::train_one_step(state, images, batch);
    std::ignore = checkpoints.step(state, {.step = state.step, .loss = loss});
    if (state.step == saves * steps_between) break;
  }
  checkpoints.wait();
}

/// The largest over the mean of the sizes of a checkpoint's shards, one per rank.
double unevenness_of_shards(const std::filesystem::path& checkpoint) {
  std::vector<double> sizes;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoint))
    if (entry.path().extension() == ".safetensors") sizes.push_back(static_cast<double>(entry.file_size()));
  if (sizes.size() != ranks) throw std::runtime_error(checkpoint.string() + " does not have a shard of each rank");
  double sum = 0;
  for (const double size : sizes) sum += size;
  return *std::max_element(sizes.begin(), sizes.end()) * ranks / sum;
}

/// Of each save, in the order of the steps.
template <class Optimizer>
std::vector<double> unevenness_of_saves(const arguments& options, const lenet::dataset& images) {
  const work_directory run(options.text("directory"), "partition");
  std::vector<std::thread> running;
  for (auto& rank : cairn::groups::threads::make(ranks))
    running.emplace_back([&images, &run, rank] { train_and_save<Optimizer>(images, run.path(), rank); });
  for (auto& each : running) each.join();
  std::vector<std::filesystem::path> checkpoints;
  for (const auto& entry : std::filesystem::directory_iterator(run.path()))
    if (entry.is_directory()) checkpoints.push_back(entry.path());
  std::sort(checkpoints.begin(), checkpoints.end());
  std::vector<double> all;
  for (const auto& each : checkpoints) all.push_back(unevenness_of_shards(each));
  return all;
}

}  // namespace

void measure_encoded_balance(const arguments& options, report& numbers) {
  const auto images = lenet::draw_dataset(2000, 1);
  std::printf("LeNet-5, lossless, %u ranks: the largest over the mean of the bytes of the shards\n\n", ranks);
  table rows({"optimizer", "first save", "second", "worst from the second on"});
  double worst = 0;
  for (const auto& [name, all] :
       {std::pair("sgd", unevenness_of_saves<lenet::sgd<lenet::network>>(options, images)),
        std::pair("adam", unevenness_of_saves<lenet::adam<lenet::network>>(options, images))}) {
    const double later = *std::max_element(all.begin() + 1, all.end());
    rows.row({name, text_of(all.at(0), 3), text_of(all.at(1), 3), text_of(later, 3)});
    worst = std::max(worst, later);
  }
  rows.print();
  numbers.at_most("balance_encoded.lenet.4", worst, 1.1);
}

}  // namespace bench
