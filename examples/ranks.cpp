// A state that four threads hold, each its copy, saved once by all of them, and restored by three.
#include <cairn/checkpointer.hpp>
#include <cairn/group/threads.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct model {
  std::vector<float> weights = std::vector<float>(100'000);
  std::vector<float> velocity = std::vector<float>(100'000);
};

/// Calls `train` at each rank of a group, in a thread of its own. Returns the number of ranks that have failed.
int at_each_rank(unsigned size, const std::function<void(cairn::any_group)>& train) {
  // [group]
  std::vector<cairn::groups::threads> ranks = cairn::groups::threads::make(size);
  // [group]
  std::vector<int> failed(size);
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < size; ++rank)
    threads.emplace_back([&failed, &train, rank, own = ranks[rank]]() mutable {
      try {
        train(std::move(own));
      } catch (const std::exception& cause) {
        std::fprintf(stderr, "rank %u: %s\n", rank, cause.what());
        failed[rank] = 1;
      }
    });
  ranks.clear();  // each thread has the only copy of its rank: when it ends, the others know
  for (auto& each : threads) each.join();
  int sum = 0;
  for (const int each : failed) sum += each;
  return sum;
}

void save(cairn::any_group rank) {
  model state;
  for (std::size_t i = 0; i < state.weights.size(); ++i)
    state.weights[i] = static_cast<float>(i);  // the same at all ranks
  // [save]
  cairn::checkpointer checkpoints("run", {.keep_last = 2}, std::move(rank));
  checkpoints.restore(state);
  const auto report = checkpoints.save(state, {.step = 100, .loss = 0.25});
  // [save]
  std::printf("saved %zu arrays\n", report.leaves);
}

void restore(cairn::any_group rank) {
  model state;
  // [restore]
  cairn::checkpointer checkpoints("run", {.keep_last = 2}, std::move(rank));
  const auto report = checkpoints.restore(state);
  // [restore]
  if (!report || state.weights[99'999] != 99'999.0F) throw std::runtime_error("not restored");
  std::printf("restored step %llu\n", static_cast<unsigned long long>(report->step));
}

}  // namespace

int main() { return at_each_rank(4, save) + at_each_rank(3, restore); }
