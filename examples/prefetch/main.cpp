// SPDX-License-Identifier: MIT
// A thread reads batches ahead of the trainer. However often the program is killed,
// every item is trained once per epoch. Usage: prefetch DIRECTORY [STEP in which it
// kills itself]
#include <cairn/cairn.hpp>

#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t epochs = 3;
// the step in which the program kills itself, for its test
std::uint64_t killed_in = 0;

struct trainer_state {
  std::vector<std::uint32_t> trained;  // how often, by item
  double weight = 0;
  cairn::loop data;
  std::uint64_t step = 0;
};

using loaded_batch = std::vector<float>;

/// Hands batches from one thread to another, and holds at most 8.
class batch_queue {
 public:
  /// Waits for a free place. False: the thread was asked to stop.
  bool push(loaded_batch batch, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return batches_.size() < 8; })) return false;
    batches_.push_back(std::move(batch));
    changed_.notify_all();
    return true;
  }
  /// Waits for a batch.
  loaded_batch pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty(); });
    loaded_batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return batch;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<loaded_batch> batches_;
};

loaded_batch load(const std::vector<float>& images, const cairn::batch& batch) {
  loaded_batch loaded;
  for (const auto item : batch.items) loaded.push_back(images[item]);
  return loaded;
}

void train_one_step(trainer_state& state, const cairn::batch& batch,
                    const loaded_batch& loaded) {
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    ++state.trained[batch.items[i]];
    state.weight += 1e-3 * (loaded[i] - state.weight);
  }
  if (++state.step == killed_in) std::raise(SIGKILL);
}

int run(const std::string& place) {
  std::vector<float> images(1000);
  for (std::size_t i = 0; i < images.size(); ++i)
    images[i] = static_cast<float>(i % 17);
  trainer_state state;
  state.trained.resize(images.size());
  state.data = cairn::loop(images, {.batch = 16, .epochs = epochs});
  cairn::checkpointer ckpt(place, {.keep_last = 2,
                                   .when = cairn::policies::every_steps{7},
                                   // a step takes less time than a save here
                                   .on_busy = cairn::when_busy::wait});
  if (ckpt.restore(state)) std::cout << "resumed from step " << state.step << std::endl;
  // [prefetch]
  batch_queue queue;
  std::jthread reader(
      [&images, &queue, ahead = state.data](const std::stop_token& stop) mutable {
        for (const cairn::batch& batch : ahead)  // a copy of the loop
          if (!queue.push(load(images, batch), stop)) return;
      });
  for (const cairn::batch& batch : state.data) {  // moves on with the trainer
    train_one_step(state, batch, queue.pop());
    if (ckpt.step(state, {.step = state.step}).stop) break;
  }
  // [prefetch]
  ckpt.save(state, {.step = state.step});
  std::uint64_t others = 0;
  for (const auto times : state.trained) others += times != epochs;
  std::cout << others << " of " << images.size() << " items were not trained " << epochs
            << " times; step " << state.step << ", weight " << state.weight << '\n';
  return others == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2) killed_in = std::stoull(argv[2]);
    return run(argc > 1 ? argv[1] : "runs/prefetch");
  } catch (const std::exception& failure) {
    std::cerr << "prefetch: " << failure.what() << '\n';
    return 1;
  }
}
