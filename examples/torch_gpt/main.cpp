// Trains a small GPT on a text, at one or several ranks of an MPI job. Stop or kill it at any time and start it again, with 1, 2 or 4 ranks: the result is
// the same as without an interruption, bit for bit.
//
// Usage: [mpiexec -n 2] torch_gpt [directory [steps [step at which a rank gets a signal [KILL or TERM]]]]
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
constexpr std::uint64_t parts = 4, windows_of_part = 2;  // of a batch

struct trainer {
  // [state]
  gpt::model model{sizes};
  torch::optim::Adam adam{model->parameters(), torch::optim::AdamOptions(3e-3)};
  cairn::loop batches;
  std::uint64_t step = 0;
  // [state]
};

/// The loss of some windows of the text, followed by its gradient.
torch::Tensor loss_and_gradient(trainer& all, const torch::Tensor& text, std::span<const std::uint64_t> windows) {
  std::vector<torch::Tensor> seen;
  for (const auto each : windows) {
    const auto first = static_cast<std::int64_t>(each) * sizes.window;
    seen.push_back(text.slice(0, first, first + sizes.window + 1));
  }
  all.adam.zero_grad();
  const auto loss = all.model->loss(torch::stack(seen));
  loss.backward();
  std::vector<torch::Tensor> numbers{loss.detach().view(1)};
  for (const auto& each : all.model->parameters()) numbers.push_back(each.grad().flatten());
  return torch::cat(numbers);
}

/// Each rank takes some parts of the batch. The parts are added in one order, so that any number of ranks computes the same bits. Returns the mean loss.
double train_one_step(trainer& all, const torch::Tensor& text, const cairn::batch& batch,
                      const cairn::mpi::group& ranks) {
  torch::Tensor sum;
  std::vector<torch::Tensor> computed;
  for (auto part = ranks.rank(); part < parts; part += ranks.size())
    computed.push_back(loss_and_gradient(all, text, batch.mine(part, parts)));
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto owner = part % ranks.size();
    const auto numbers = ranks.rank() == owner ? computed[part / ranks.size()] : torch::empty_like(computed[0]);
    MPI_Bcast(numbers.data_ptr<float>(), static_cast<int>(numbers.numel()), MPI_FLOAT, static_cast<int>(owner),
              MPI_COMM_WORLD);
    sum = part == 0 ? numbers.clone() : sum + numbers;
  }
  sum /= static_cast<double>(parts);
  std::int64_t first = 1;
  for (auto& each : all.model->parameters()) {
    each.mutable_grad().copy_(sum.slice(0, first, first + each.numel()).view_as(each));
    first += each.numel();
  }
  all.adam.step();
  ++all.step;
  return sum[0].item<double>();
}

/// A hash of all parameters, bit by bit.
std::uint64_t hash_of(const trainer& all) {
  std::uint64_t hash = 1;
  for (const auto& each : all.model->parameters()) {
    const auto bits = each.detach().contiguous().view({-1}).view(torch::kInt);
    for (std::int64_t i = 0; i < bits.numel(); ++i)
      hash = (hash ^ static_cast<std::uint32_t>(bits.data_ptr<int>()[i])) * 0x100000001B3U;
  }
  return hash;
}

/// What the saves cost, and what torch::save of the same state costs.
void print_costs(const trainer& all, const cairn::checkpointer& checkpoints, const std::string& place) {
  const auto stats = checkpoints.stats();
  if (stats.saves == 0) return;
  const auto saves = static_cast<double>(stats.saves);
  const auto began = std::chrono::steady_clock::now();
  torch::save(all.model, place + "/model.pt");
  torch::save(all.adam, place + "/adam.pt");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  const auto bytes = std::filesystem::file_size(place + "/model.pt") + std::filesystem::file_size(place + "/adam.pt");
  std::filesystem::remove(place + "/model.pt");
  std::filesystem::remove(place + "/adam.pt");
  std::cout << stats.saves << " saves: the trainer waited " << 1e3 * stats.stall_seconds / saves << " ms for each, of "
            << static_cast<double>(stats.bytes) / saves / 1024 << " KiB in files\n"
            << "torch::save of the same state: " << took.count() << " ms, " << static_cast<double>(bytes) / 1024
            << " KiB\n";
}

void train(const std::string& place, std::uint64_t steps, std::uint64_t signal_at, int signal) {
  const cairn::mpi::group ranks(MPI_COMM_WORLD);
  if (parts % ranks.size() != 0) throw std::invalid_argument("the job has to have 1, 2 or 4 ranks");
  if (ranks.rank() != 0) std::cout.setstate(std::ios::badbit);  // only rank 0 prints
  torch::manual_seed(1);
  torch::set_num_threads(1);  // sums in one order, so that runs can be compared bit by bit
  const auto text = gpt::as_numbers(gpt::text());
  const auto windows = static_cast<std::uint64_t>((text.numel() - 1) / sizes.window);
  trainer all;
  all.batches = cairn::loop(windows, {.batch = parts * windows_of_part, .epochs = 1'000'000, .drop_last = true});
  // [training]
  cairn::checkpointer checkpoints(place, {.when = cairn::policies::every_steps{5}, .preempt = {SIGTERM}}, ranks);
  if (checkpoints.restore(all)) std::cout << "resumed from step " << all.step << std::endl;
  if (all.step >= steps) return;
  for (const cairn::batch& batch : all.batches) {
    const auto loss = train_one_step(all, text, batch, ranks);
    if (all.step % 20 == 0) std::cout << "step " << all.step << "  loss " << loss << std::endl;
    if (checkpoints.step(all, {.step = all.step, .loss = loss}).stop) return;
    if (all.step == signal_at && ranks.rank() == ranks.size() - 1) std::raise(signal);
    if (all.step >= steps) break;
  }
  // [training]
  checkpoints.save(all, {.step = all.step});
  std::cout << "state " << std::hex << hash_of(all) << std::dec << std::endl;
  if (ranks.rank() == 0) print_costs(all, checkpoints, place);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    const std::vector<std::string> given(argv + 1, argv + argc);
    const auto number = [&](std::size_t i, std::uint64_t otherwise) {
      return given.size() > i ? std::stoull(given[i]) : otherwise;
    };
    train(given.empty() ? "runs/torch_gpt" : given[0], number(1, 200), number(2, 0),
          given.size() > 3 && given[3] == "TERM" ? SIGTERM : SIGKILL);
  } catch (const std::exception& fault) {
    std::cerr << std::string("torch_gpt: ") + fault.what() + '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
