// SPDX-License-Identifier: MIT
// Trains a network of dlib with its dnn_trainer. It can be killed at any time, and
// continues when it is started again.
#include <cairn/cairn.hpp>
#include <dlib/dnn.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "adapters.hpp"

namespace dlib_trainer {

using point = dlib::matrix<float, 2, 1>;
// Not dropout, whose random engine dlib neither saves nor shows.
using network = dlib::loss_multiclass_log<
    dlib::fc<3, dlib::relu<dlib::bn_fc<dlib::fc<16, dlib::input<point>>>>>>;

struct data_set {
  std::vector<point> points;
  std::vector<unsigned long> arms;
};

/// Points on the three arms of a spiral.
data_set draw_spiral(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  data_set drawn;
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = static_cast<double>(random() % 1000 + 1) / 1000;
    const auto arm = static_cast<unsigned long>(random() % 3);
    const double angle = 4 * radius + static_cast<double>(arm) * 2.1;
    drawn.points.push_back({static_cast<float>(radius * std::cos(angle)),
                            static_cast<float>(radius * std::sin(angle))});
    drawn.arms.push_back(arm);
  }
  return drawn;
}

void train(const std::string& directory, unsigned seed, std::uint64_t kill_at) {
  const data_set spiral = draw_spiral(320, seed);
  network net;
  dlib::dnn_trainer<network> trainer(net);
  // A schedule, because dlib does not save when it last looked whether to lower the
  // rate by itself.
  trainer.set_learning_rate_schedule(dlib::logspace(-1, -3, 60));
  cairn::loop data(spiral.points.size(), {.seed = seed, .batch = 16, .epochs = 3});

  cairn::state state{{"trainer", trainer}, {"data", data}};
  cairn::checkpointer checkpoints{directory,
                                  {.keep_last = 2,
                                   .when = cairn::policies::every_steps{4},
                                   .on_busy = cairn::when_busy::wait}};
  if (const auto found = checkpoints.restore(state))
    std::cout << "resumed from step " << found->step << '\n';

  for (const cairn::batch& batch : data) {
    data_set chosen;
    for (const auto item : batch.items) {
      chosen.points.push_back(spiral.points[item]);
      chosen.arms.push_back(spiral.arms[item]);
    }
    trainer.train_one_step(chosen.points, chosen.arms);
    const std::uint64_t step = trainer.get_train_one_step_calls();
    if (step == kill_at) std::raise(SIGKILL);
    std::ignore =
        checkpoints.step(state, {.step = step, .loss = trainer.get_average_loss()});
  }
  checkpoints.wait();

  trainer.get_net().clean();
  std::cout << "trained to step " << trainer.get_train_one_step_calls() << ", loss "
            << trainer.get_average_loss() << '\n'
            << "state " << std::hash<std::string>()(to_bytes(trainer)) << ' '
            << data.epoch() << ' ' << data.position() << '\n';
}

}  // namespace dlib_trainer

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: dlib_trainer <folder for checkpoints> <seed> [step at which "
                 "to kill the process]\n";
    return 2;
  }
  try {
    dlib_trainer::train(argv[1], static_cast<unsigned>(std::atoi(argv[2])),
                        argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0);
  } catch (const std::exception& fault) {
    std::cerr << "dlib_trainer: " << fault.what() << '\n';
    return 1;
  }
}
