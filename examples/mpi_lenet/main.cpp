// SPDX-License-Identifier: MIT
// Trains LeNet-5 at all ranks of an MPI job, each on its part of every batch. The job
// can be stopped or killed at any time, and continues on any number of ranks, bit for
// bit as on one.
#include <cairn/adapters/eigen.hpp>
#include <cairn/cairn.hpp>
#include <cairn/each_host.hpp>
#include <cairn/group/mpi.hpp>
#include <cairn/levels.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <span>
#include <stdexcept>
#include <string>

#include <mpi.h>
#include <unistd.h>

#include "../lenet/options.hpp"
#include "../lenet/program.hpp"
#include "../lenet/trainer.hpp"
#include "sums.hpp"

namespace lenet {

/// Trains on the images `mine` of a batch, and on those of the other ranks; returns the
/// mean loss of the whole batch. The noise depends on the step and on the image, not on
/// the rank.
template <class Optimizer>
float train_one_step(trainer_state<Optimizer>& state, const dataset& images,
                     const cairn::batch& all, std::span<const std::uint64_t> mine) {
  const auto noise = state.rng();
  network gradient = zeros(state.model);
  batch_sums sums(state.model);
  for (const std::uint64_t& image : mine) {
    auto seen = pick(images, {&image, 1});
    std::mt19937_64 rng(noise + image);
    add_noise(seen, rng);
    const auto result = backward(state.model, seen, gradient);
    sums.add(gradient, result);
  }
  sums.reduce(MPI_COMM_WORLD);
  sums.mean_gradient(all.items.size(), gradient);
  const double loss = sums.mean_loss(all.items.size());
  learn(state, all, gradient, loss, sums.all_correct());
  return static_cast<float>(loss);
}

/// The part of the images that the model classifies correctly. Each rank takes some of
/// the batches.
double accuracy_of_all(const network& model, const dataset& images,
                       const cairn::mpi::group& ranks) {
  std::uint64_t correct = 0, number = 0;
  for (const cairn::batch& part :
       cairn::loop(images.size(), {.batch = 100, .shuffle = false}))
    if (number++ % ranks.size() == ranks.rank())
      correct += count_correct(model, images, part.items);
  MPI_Allreduce(MPI_IN_PLACE, &correct, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return static_cast<double>(correct) / static_cast<double>(images.size());
}

template <class Optimizer>
void train(const options& chosen, const digits& data, const cairn::mpi::group& ranks,
           cairn::checkpointer& checkpoints, std::ostream& used) {
  const auto began = std::chrono::steady_clock::now();
  const bool is_last = ranks.rank() == ranks.size() - 1;
  auto state = start<Optimizer>(
      data.train.size(),
      {.seed = chosen.seed, .batch = chosen.batch, .epochs = chosen.epochs});
  if (checkpoints.restore(state))
    std::cout << "resumed from step " << state.step << '\n';

  const auto report = [&](const cairn::batch& batch, float loss) {
    for (const auto image : batch.mine(ranks))
      used << state.step << ' ' << batch.epoch << ' ' << image << '\n';
    used.flush();
    if (is_last && state.step == chosen.kill_at) std::raise(SIGKILL);
    if (is_last && state.step == chosen.stop_at) std::raise(SIGTERM);
    if (chosen.print != 0 && state.step % chosen.print == 0)
      std::cout << "step " << state.step << "  loss " << loss << '\n';
    if (batch.ends_epoch)
      print_epoch(state, accuracy_of_all(state.model, data.test, ranks));
  };
  bool stops = false;
  // [training]
  for (const cairn::batch& batch : state.data) {
    const float loss = train_one_step(state, data.train, batch, batch.mine(ranks));
    report(batch, loss);
    stops = checkpoints.step(state, {.step = state.step, .loss = loss}).stop;
    if (stops) break;
  }
  // [training]
  checkpoints.wait();
  std::cout << (stops ? "stopped at step " : "trained to step ") << state.step << " in "
            << seconds_since(began) << " s\nstate " << fingerprint::of(state) << '\n';
}

/// Ends all ranks.
[[noreturn]] void abort_job(const std::exception& fault) {
  std::cerr << std::string("mpi_lenet: ") + fault.what() + '\n';
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// The folder `checkpoint`, which all hosts see, or before it the folder `local` of each
/// host. `host`: its name; empty: the boot id of the kernel.
cairn::any_store places_of(const std::string& checkpoint, const std::string& local,
                           const std::string& host) {
  using std::chrono::seconds;
  if (local.empty()) return cairn::stores::directory(checkpoint);
  // [levels]
  return cairn::levels{cairn::each_host{local, {.host = host, .partner = true}},
                       cairn::level{checkpoint, {.every = seconds(1)}}};
  // [levels]
}

void run(options chosen, const std::string& used_images, const std::string& local,
         const std::string& host) {
  // [group]
  const cairn::mpi::group ranks(MPI_COMM_WORLD);
  // [group]
  const std::string rank = std::to_string(ranks.rank());
  std::cerr << "rank " + rank + " of " + std::to_string(ranks.size()) + ": process " +
                   std::to_string(getpid()) + '\n';
  if (ranks.rank() != 0) {
    std::cout.setstate(std::ios::badbit);  // only rank 0 prints
    chosen.events.clear();
  }
  auto how = how_to_save(chosen);
  how.chain.merge.reset();  // groups do not merge deltas
  const auto place = places_of(chosen.checkpoint, local, host);
  // [checkpointer]
  cairn::checkpointer checkpoints(place, how, ranks);
  // [checkpointer]
  try {
    std::ofstream used;
    if (!used_images.empty()) used.open(used_images + '.' + rank);
    if (!used)
      throw std::runtime_error(used_images + '.' + rank + " cannot be written");
    const auto data = load_digits(chosen);
    if (chosen.optimizer == "adam") {
      train<adam<network>>(chosen, data, ranks, checkpoints, used);
    } else {
      train<sgd<network>>(chosen, data, ranks, checkpoints, used);
    }
  } catch (const std::exception& fault) {
    abort_job(
        // before the checkpointer is destroyed: it would wait for ranks that may wait
        // for this one in MPI
        fault);
  }
}

}  // namespace lenet

int main(int argc, char** argv) {
  lenet::prepare_process();
  try {
    std::string used, local, host;
    const auto chosen =
        lenet::parse_options(argc, argv,
                             {{"used", &used,
                               "file for the step, epoch and number of each image that "
                               "rank R used, with .R"},
                              {"local", &local,
                               "folder on the disk of each host, for checkpoints that "
                               "are then copied to --checkpoint"},
                              {"host", &host,
                               "name of the host of this rank, with --local; empty: "
                               "ranks of one kernel are on one host"}});
    if (chosen.checkpoint.empty())
      throw std::invalid_argument("--checkpoint names no folder");
    MPI_Init(&argc, &argv);
    lenet::run(chosen, used, local, host);
    MPI_Finalize();
  } catch (const std::exception& fault) {
    int is_running = 0;
    MPI_Initialized(&is_running);
    if (is_running != 0) lenet::abort_job(fault);
    std::cerr << "mpi_lenet: " << fault.what() << '\n';
    return 1;
  }
}
