// SPDX-License-Identifier: MIT
// Trains on a machine that may vanish with its disk: checkpoints go to the disk, and
// from there to a bucket. See test.sh, which takes the disk away, and watch.sh.
//
//     spot /mnt/nvme/walk s3://bucket/runs/walk
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

// [all]
#include <cairn/cairn.hpp>
#include <cairn/levels.hpp>
#include <cairn/s3.hpp>
#include <csignal>

// [all]
namespace {

struct trainer {
  std::vector<float> weights = std::vector<float>(100'000), momentum = weights;
  std::mt19937_64 rng{1};
  std::uint64_t step = 0;
};

void train_one_step(trainer& t) {
  std::normal_distribution<float> noise;
  for (std::size_t i = 0; i < t.weights.size(); ++i) {
    t.momentum[i] = 0.9F * t.momentum[i] - 0.01F * (t.weights[i] + noise(t.rng));
    t.weights[i] += t.momentum[i];
  }
  ++t.step;
}

/// For the tests, a directory in place of the bucket.
cairn::any_store far_place(const std::string& where) {
  if (where.starts_with("s3://")) return cairn::stores::s3(where);
  return cairn::stores::directory(where);
}

void report(const cairn::event& what) {
  using kind = cairn::event::kind;
  if (what.what == kind::restored || what.what == kind::promoted ||
      what.what == kind::stopping || what.what == kind::failed)
    std::cout << name(what.what) << " " << what.checkpoint << " " << what.message
              << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: spot DIRECTORY s3://BUCKET/PREFIX [STEPS [SECONDS]]\n";
    return 2;
  }
  const std::string near = argv[1];
  const auto bucket = far_place(argv[2]);
  const std::uint64_t steps = argc > 3 ? std::stoull(argv[3]) : 2000;
  const std::chrono::seconds every(argc > 4 ? std::stoi(argv[4]) : 300);
  // [levels]
  const cairn::levels places{near, cairn::level{bucket, {.every = every}}};
  cairn::checkpointer ckpt{places,
                           {.keep_last = 2,
                            .when = cairn::policies::every_steps{20},
                            .on_event = report,
                            .preempt = {SIGTERM},
                            .preempt_deadline = std::chrono::seconds(100)}};
  // [levels]
  trainer t;
  ckpt.restore(t);
  while (t.step < steps) {
    train_one_step(t);
    if (ckpt.step(t, {.step = t.step}).stop) return 0;
  }
  ckpt.save(t, {.step = t.step});
  double sum = 0;
  for (const float w : t.weights) sum += w;
  std::cout << "step " << t.step << ": " << std::hexfloat << sum << '\n';
}
