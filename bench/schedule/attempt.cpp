// SPDX-License-Identifier: MIT
// The trainer of a real run: the LeNet-5 of the examples.
#include "schedule/attempt.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "cairn/adapters/eigen.hpp"
#include "cairn/checkpointer.hpp"

#include "common/clock.hpp"
#include "lenet/trainer.hpp"

namespace bench {
namespace {

/// Knows from events whether a save runs in the background.
class save_watch {
 public:
  [[nodiscard]] cairn::observer observer() {
    return [this](const cairn::event& what) {
      using kind = cairn::event::kind;
      if (what.what == kind::started) is_running_ = true;
      if (what.what == kind::published || what.what == kind::failed) is_running_ = false;
      newest_ = clock_seconds();
    };
  }
  /// Was there anything since then?
  [[nodiscard]] bool saw_any_since(double seconds) const { return is_running_ || newest_ > seconds; }

 private:
  std::atomic<bool> is_running_{false};
  std::atomic<double> newest_{0};
};

using state_type = lenet::trainer_state<lenet::sgd<lenet::network>>;

/// Has an epoch just ended with so small a mean loss?
bool is_at(double target, const state_type& state) {
  return state.step > 0 && state.data.position() == 0 &&
         state.score.loss <= target * static_cast<double>(state.data.items());
}

/// Adds a record; the count last, so that whoever is killed leaves whole records.
void tell(run_log& log, const step_record& done) {
  const auto at = log.count.load();
  if (at == run_log::capacity) throw std::runtime_error("the run has more steps than its log");
  log.records[at] = done;
  log.count.store(at + 1);
}

/// Trains on to the target, where the state is not there yet.
void train_on(state_type& state, cairn::checkpointer* checkpoints, const save_watch& watch, double target,
              const lenet::dataset& images, std::uint32_t attempt, run_log& log) {
  double now = clock_seconds();
  for (const cairn::batch& batch : state.data) {
    step_record done{.attempt = attempt, .step = static_cast<std::uint32_t>(state.step + 1), .began = now};
    const float loss = lenet::train_one_step(state, images, batch);
    done.trained = clock_seconds();
    done.is_beside_save = watch.saw_any_since(done.began);
    if (checkpoints) done.saves = checkpoints->step(state, {.step = state.step, .loss = loss}).started;
    done.ended = now = clock_seconds();
    tell(log, done);
    if (is_at(target, state)) return;
  }
}

}  // namespace

void train_to_target(const run_method& how, const run_facts& facts, const run_setting& where,
                     const lenet::digits& images, std::uint32_t attempt, run_log& log) {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 2 << 20);  // the same sums on every machine, as in the example
  auto state = lenet::start<lenet::sgd<lenet::network>>(
      images.train.size(), {.seed = 1, .batch = where.batch, .epochs = std::numeric_limits<std::uint32_t>::max()});
  log.steps_per_epoch = (images.train.size() + where.batch - 1) / where.batch;
  save_watch watch;
  std::unique_ptr<cairn::checkpointer> checkpoints;
  if (how.options) {
    auto options = how.options(facts);
    options.on_event = watch.observer();
    checkpoints = std::make_unique<cairn::checkpointer>(where.directory, std::move(options));
    checkpoints->restore(state);
  }
  if (!is_at(where.target, state)) train_on(state, checkpoints.get(), watch, where.target, images.train, attempt, log);
  const auto print = lenet::fingerprint::of(state);
  std::copy_n(print.begin(), std::min(print.size(), sizeof log.fingerprint - 1), log.fingerprint);
  log.is_done = true;
}

}  // namespace bench
