// SPDX-License-Identifier: MIT
// Four threads that train one model without locks, each with a generator of its own: in
// rounds, on batches of a forked data loader, stopped and continued bit for bit; and
// without a barrier.
#include <cairn/checkpointer.hpp>
#include <cairn/schedule/policies.hpp>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

// [state]
struct trainer_state {
  std::vector<float> weights = std::vector<float>(5000);
  std::vector<std::mt19937_64> generators;  // one of each thread
  std::uint64_t round = 0;                  // also the position in the data
};
// [state]

// [loader]
/// A process that prepares batches from `position` on, and sends them through a pipe.
/// It does not use the checkpointer of its parent.
class data_loader {
 public:
  explicit data_loader(std::uint64_t position) {
    int ends[2];
    if (pipe(ends) != 0 || (child_ = fork()) < 0)
      throw std::runtime_error("no data loader");
    if (child_ == 0) {
      close(ends[0]);
      for (std::uint64_t batch = 0; send(ends[1], batch = position * position);
           ++position)
        continue;
      _exit(0);  // the destructors are the parent's
    }
    close(ends[1]);
    from_ = ends[0];
  }
  // [loader]
  data_loader(const data_loader&) = delete;
  data_loader& operator=(const data_loader&) = delete;
  ~data_loader() {
    close(from_);
    waitpid(child_, nullptr, 0);
  }
  std::uint64_t next() {
    std::uint64_t batch = 0;
    if (read(from_, &batch, sizeof batch) != sizeof batch)
      throw std::runtime_error("the data loader has ended");
    return batch;
  }

 private:
  static bool send(int to, std::uint64_t batch) {
    return write(to, &batch, sizeof batch) == sizeof batch;
  }

  pid_t child_ = -1;
  int from_ = -1;
};

/// Adds whole numbers, so that the order in which threads add them does not change the
/// sum.
void update(std::vector<float>& weights, std::mt19937_64& generator,
            std::uint64_t batch) {
  for (int i = 0; i < 2000; ++i) {
    const auto number = generator() + batch;
    std::atomic_ref(weights[number % weights.size()])
        .fetch_add(number % 3 == 0 ? -1.F : 1.F, std::memory_order_relaxed);
  }
}

trainer_state train(const std::string& place, std::uint64_t rounds) {
  constexpr std::size_t threads = 4;
  trainer_state state;
  for (std::size_t i = 0; i < threads; ++i) state.generators.emplace_back(i);
  // [threads]
  cairn::checkpointer checkpoints(
      place, {.keep_last = 2, .when = cairn::policies::every_steps{5}});
  checkpoints.restore(state);
  data_loader data(state.round);
  std::uint64_t batch = data.next();
  bool stops = state.round >= rounds;
  std::exception_ptr failure;
  // one thread calls this, while the others wait
  std::barrier round_ends(threads, [&]() noexcept {
    try {
      stops = checkpoints.step(state, {.step = ++state.round}).stop ||
              state.round >= rounds;
      batch = data.next();
    } catch (...) {
      failure = std::current_exception();
      stops = true;
    }
  });
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      while (!stops) {
        update(state.weights, state.generators[i], batch);
        round_ends.arrive_and_wait();
      }
    });
  for (auto& each : running) each.join();
  if (failure) std::rethrow_exception(failure);
  checkpoints.save(state, {.step = state.round});
  // [threads]
  return state;
}

// [free_state]
struct thread_state {
  std::mt19937_64 generator;
  std::uint64_t batches = 0;  // that it has done
};
struct free_state {
  std::vector<float> weights = std::vector<float>(5000);
  std::vector<thread_state> threads;
  std::uint64_t step = 0;
};
// [free_state]

free_state train_freely(const std::string& place, std::uint64_t batches) {
  free_state state;
  for (std::size_t i = 0; i < 4; ++i) state.threads.push_back({std::mt19937_64(i)});
  cairn::checkpointer checkpoints(
      place, {.keep_last = 2, .when = cairn::policies::every_steps{5}});
  checkpoints.restore(state);
  std::exception_ptr failure;
  bool stops = false;
  // [free_threads]
  // guards the checkpointer, and all of the state but the weights
  std::mutex finishing;
  const auto work = [&](std::size_t i) {
    std::unique_lock lock(finishing);
    for (thread_state mine = state.threads[i]; mine.batches < batches && !stops;) {
      lock.unlock();
      // other threads save meanwhile
      update(state.weights, mine.generator, mine.batches++);
      lock.lock();
      state.threads[i] = mine;  // from here on the batch counts as done
      try {
        stops = checkpoints.step(state, {.step = ++state.step}).stop || stops;
      } catch (...) {
        failure = std::current_exception();
        stops = true;
      }
    }
  };
  // [free_threads]
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < state.threads.size(); ++i) running.emplace_back(work, i);
  for (auto& each : running) each.join();
  if (failure) std::rethrow_exception(failure);
  checkpoints.save(state, {.step = state.step});
  return state;
}

/// Whether each generator is where that many batches, and no others, have left it.
bool is_done(const free_state& state, std::uint64_t batches) {
  for (std::size_t i = 0; i < state.threads.size(); ++i) {
    std::mt19937_64 generator(i);
    generator.discard(2000 * batches);
    if (state.threads[i].generator != generator || state.threads[i].batches != batches)
      return false;
  }
  return state.step == batches * state.threads.size();
}

bool same(const trainer_state& a, const trainer_state& b) {
  return a.weights == b.weights && a.generators == b.generators && a.round == b.round;
}

}  // namespace

int main() {
  try {
    std::filesystem::remove_all("hogwild");
    const auto whole = train("hogwild/whole", 33);
    train("hogwild/parts", 7);
    train("hogwild/parts", 20);
    const bool is_same = same(whole, train("hogwild/parts", 33));
    std::printf("33 rounds of 4 threads; stopped after 7 and 20, and continued: %s\n",
                is_same ? "bit-identical" : "different");
    train_freely("hogwild/free", 9);
    const bool is_complete = is_done(train_freely("hogwild/free", 20), 20);
    std::printf(
        "20 batches of 4 threads without a barrier, stopped after 9: %s\n",
        is_complete ? "each was done once" : "some were left out, or done twice");
    return is_same && is_complete ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "hogwild: %s\n", failure.what());
    return 1;
  }
}
