// SPDX-License-Identifier: MIT
// A state that four threads hold, each its copy, saved once by all of them, and
// restored by three.
#include <cairn/checkpointer.hpp>
#include <cairn/group/threads.hpp>
#include <cairn/state/sharded.hpp>

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

/// Calls `train` at each rank of a group, in a thread of its own. Returns the number of
/// ranks that have failed.
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
  // each thread has the only copy of its rank: when it ends, the others know
  ranks.clear();
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

/// Saves an array of which each rank has a part, or restores it on another number of
/// ranks.
void use_parts(cairn::any_group rank, bool saves) {
  constexpr std::size_t whole = 12'000;
  const std::size_t first = whole * rank.rank() / rank.size(),
                    end = whole * (rank.rank() + 1) / rank.size();
  model state;
  std::vector<float> part(end - first);
  // [sharded]
  cairn::state all{{"model", state},
                   {"embedding", cairn::shard_of(part, {whole}, {first})}};
  cairn::checkpointer checkpoints("run_of_parts", {.keep_last = 2}, std::move(rank));
  // [sharded]
  if (saves) {
    for (std::size_t i = 0; i < part.size(); ++i)
      part[i] = static_cast<float>(first + i);
    checkpoints.save(all, {.step = 1});
  } else {
    if (!checkpoints.restore(all) || part.back() != static_cast<float>(end - 1))
      throw std::runtime_error("not restored");
  }
}

void restore(cairn::any_group rank) {
  model state;
  // [restore]
  cairn::checkpointer checkpoints("run", {.keep_last = 2}, std::move(rank));
  const auto report = checkpoints.restore(state);
  // [restore]
  if (!report || state.weights[99'999] != 99'999.0F)
    throw std::runtime_error("not restored");
  std::printf("restored step %llu\n", static_cast<unsigned long long>(report->step));
}

}  // namespace

int main() {
  int failed = at_each_rank(4, save) + at_each_rank(3, restore);
  for (const bool saves : {true, false})
    failed += at_each_rank(saves ? 4 : 3, [&](cairn::any_group rank) {
      use_parts(std::move(rank), saves);
    });
  return failed;
}
