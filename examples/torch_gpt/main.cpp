// SPDX-License-Identifier: MIT
// Trains a small GPT on a text, at one or several ranks of an MPI job. Stop or kill it
// at any time and start it again, with 1, 2 or 4 ranks: the result is the same as
// without an interruption, bit for bit.
//
// Usage: [mpiexec -n 2] torch_gpt [directory [steps [step at which a rank gets a signal
// [KILL or TERM]]]]
#include <torch/torch.h>

#include <cairn/adapters/torch.hpp>
#include <cairn/cairn.hpp>
#include <cairn/group/mpi.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "model.hpp"
#include "text.hpp"

namespace {

constexpr gpt::sizes sizes;
constexpr std::uint64_t micro_batches = 4, windows_per_micro_batch = 2;

struct trainer {
  // [state]
  gpt::model model{sizes};
  torch::optim::Adam adam{model->parameters(), torch::optim::AdamOptions(3e-3)};
  cairn::loop batches;
  std::uint64_t step = 0;
  // [state]
};

/// Returns the loss of some windows of the text and its gradient in one tensor, to send
/// it to the other ranks.
torch::Tensor loss_and_gradient(trainer& state, const torch::Tensor& text,
                                std::span<const std::uint64_t> windows) {
  std::vector<torch::Tensor> seen;
  for (const auto each : windows) {
    const auto first = static_cast<std::int64_t>(each) * sizes.window;
    seen.push_back(text.slice(0, first, first + sizes.window + 1));
  }
  state.adam.zero_grad();
  const auto loss = state.model->loss(torch::stack(seen));
  loss.backward();
  std::vector<torch::Tensor> numbers{loss.detach().view(1)};
  for (const auto& each : state.model->parameters())
    numbers.push_back(each.grad().flatten());
  return torch::cat(numbers);
}

/// Each rank takes some of the micro-batches. Their gradients are added in one order,
/// so that any number of ranks computes the same bits. Returns the mean loss.
double train_one_step(trainer& state, const torch::Tensor& text,
                      const cairn::batch& batch, const cairn::mpi::group& ranks) {
  torch::Tensor sum;
  std::vector<torch::Tensor> computed;
  for (auto micro_batch = ranks.rank(); micro_batch < micro_batches;
       micro_batch += ranks.size())
    computed.push_back(
        loss_and_gradient(state, text, batch.mine(micro_batch, micro_batches)));
  for (std::uint64_t micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    const auto owner = micro_batch % ranks.size();
    const auto numbers = ranks.rank() == owner ? computed[micro_batch / ranks.size()]
                                               : torch::empty_like(computed[0]);
    MPI_Bcast(numbers.data_ptr<float>(), static_cast<int>(numbers.numel()), MPI_FLOAT,
              static_cast<int>(owner), MPI_COMM_WORLD);
    sum = micro_batch == 0 ? numbers.clone() : sum + numbers;
  }
  sum /= static_cast<double>(micro_batches);
  std::int64_t first = 1;
  for (auto& each : state.model->parameters()) {
    each.mutable_grad().copy_(sum.slice(0, first, first + each.numel()).view_as(each));
    first += each.numel();
  }
  state.adam.step();
  ++state.step;
  return sum[0].item<double>();
}

/// A hash of all parameters, bit by bit.
std::uint64_t hash_of(const trainer& state) {
  std::uint64_t hash = 1;
  for (const auto& each : state.model->parameters()) {
    const auto bits = each.detach().contiguous().view({-1}).view(torch::kInt);
    for (std::int64_t i = 0; i < bits.numel(); ++i)
      hash =
          (hash ^ static_cast<std::uint32_t>(bits.data_ptr<int>()[i])) * 0x100000001B3U;
  }
  return hash;
}

/// What the saves cost, and what torch::save of the same state costs.
void print_costs(const trainer& state, const cairn::checkpointer& checkpoints,
                 const std::string& directory) {
  const auto stats = checkpoints.stats();
  if (stats.saves == 0) return;
  const auto saves = static_cast<double>(stats.saves);
  const auto began = std::chrono::steady_clock::now();
  torch::save(state.model, directory + "/model.pt");
  torch::save(state.adam, directory + "/adam.pt");
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - began;
  const auto bytes = std::filesystem::file_size(directory + "/model.pt") +
                     std::filesystem::file_size(directory + "/adam.pt");
  std::filesystem::remove(directory + "/model.pt");
  std::filesystem::remove(directory + "/adam.pt");
  std::cout << stats.saves << " saves: the trainer waited "
            << 1e3 * stats.stall_seconds / saves << " ms for each, of "
            << static_cast<double>(stats.bytes) / saves / 1024 << " KiB in files\n"
            << "torch::save of the same state: " << took.count() << " ms, "
            << static_cast<double>(bytes) / 1024 << " KiB\n";
}

void train(const std::string& directory, std::uint64_t steps, std::uint64_t signal_at,
           int signal) {
  const cairn::mpi::group ranks(MPI_COMM_WORLD);
  if (micro_batches % ranks.size() != 0)
    throw std::invalid_argument("the job has to have 1, 2 or 4 ranks");
  if (ranks.rank() != 0) std::cout.setstate(std::ios::badbit);  // only rank 0 prints
  torch::manual_seed(1);
  // sums in one order, so that runs can be compared bit by bit
  torch::set_num_threads(1);
  const auto text = gpt::as_numbers(gpt::text());
  const auto windows = static_cast<std::uint64_t>((text.numel() - 1) / sizes.window);
  trainer state;
  state.batches =
      cairn::loop(windows, {.batch = micro_batches * windows_per_micro_batch,
                            .epochs = 1'000'000,
                            .drop_last = true});
  // [training]
  cairn::checkpointer checkpoints(
      directory, {.when = cairn::policies::every_steps{5}, .preempt = {SIGTERM}},
      ranks);
  if (checkpoints.restore(state))
    std::cout << "resumed from step " << state.step << std::endl;
  if (state.step >= steps) return;
  double loss = 0;
  for (const cairn::batch& batch : state.batches) {
    loss = train_one_step(state, text, batch, ranks);
    if (state.step % 20 == 0)
      std::cout << "step " << state.step << "  loss " << loss << std::endl;
    if (checkpoints.step(state, {.step = state.step, .loss = loss}).stop) return;
    if (state.step == signal_at && ranks.rank() == ranks.size() - 1) std::raise(signal);
    if (state.step >= steps) break;
  }
  // [training]
  checkpoints.save(state, {.step = state.step, .loss = loss});
  std::cout << "state " << std::hex << hash_of(state) << std::dec << std::endl;
  if (ranks.rank() == 0) print_costs(state, checkpoints, directory);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    const std::vector<std::string> given(argv + 1, argv + argc);
    const auto number = [&](std::size_t i, std::uint64_t fallback) {
      return given.size() > i ? std::stoull(given[i]) : fallback;
    };
    train(given.empty() ? "runs/torch_gpt" : given[0], number(1, 200), number(2, 0),
          given.size() > 3 && given[3] == "TERM" ? SIGTERM : SIGKILL);
  } catch (const std::exception& fault) {
    std::cerr << std::string("torch_gpt: ") + fault.what() + '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
