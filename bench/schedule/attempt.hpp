// SPDX-License-Identifier: MIT
// One process of a real run, which may be killed at any moment, and what it leaves behind for its parent.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "schedule/real_run.hpp"

namespace lenet {
struct digits;
}

namespace bench {

/// A step done, by the clock that all processes share.
struct step_record {
  std::uint32_t attempt = 0, step = 0;
  double began = 0, trained = 0, ended = 0;  ///< seconds; `trained`: before the checkpointer's `step`
  bool is_beside_save = false;               ///< a save ran during a part of the training
  bool saves = false;                        ///< one began
};

/// What the processes of a run record: in shared memory, so that a SIGKILL loses no record.
struct run_log {
  static constexpr std::size_t capacity = 1 << 17;

  std::atomic<std::uint64_t> count{0};  ///< of records
  std::atomic<bool> is_done{false};     ///< the target is reached
  std::uint64_t steps_per_epoch = 0;
  char fingerprint[32]{};
  char failure[256]{};  ///< what was thrown
  step_record records[capacity];

  [[nodiscard]] std::span<const step_record> steps() const { return {records, count.load()}; }
};

/// Starts, or continues from the newest checkpoint, and trains to the target.
void train_to_target(const run_method& how, const run_facts& facts, const run_setting& where,
                     const lenet::digits& images, std::uint32_t attempt, run_log& log);

}  // namespace bench
