// SPDX-License-Identifier: MIT
// The ways to checkpoint that are compared: Cairn's checkpointer, SCAR, TOPN, and full checkpoints.
#pragma once

#include <memory>

#include "models/training.hpp"
#include "rework/methods.hpp"

namespace bench::rework {

/// The checkpoints of one run. The first one, of the state at construction, is whole, and no method is charged for it.
class checkpoint_writer {
 public:
  checkpoint_writer() = default;
  checkpoint_writer(const checkpoint_writer&) = delete;
  checkpoint_writer& operator=(const checkpoint_writer&) = delete;
  virtual ~checkpoint_writer() = default;

  /// Saves the state of `run`, in at most `budget` bytes where the method can choose. Returns the bytes.
  virtual double save(models::training& run, double budget) = 0;
  /// Brings `run` to what is restored after a total failure.
  virtual void restore(models::training& run) = 0;
};

/// A checkpointer on a store in memory. Bytes are those of payloads and code tables; the index and the headers, which a
/// method of any kind needs, do not count. Each restore is one by a new checkpointer, which reads the store and then
/// goes on with the chain.
[[nodiscard]] std::unique_ptr<checkpoint_writer> write_by_cairn(models::training& run, models::part what,
                                                                codec_setting how);

/// SCAR (Qiao et al., ICML 2019): the running checkpoint gets the rows of the arrays that have moved farthest from it,
/// in the L2 norm, for the bytes of their elements and 4 for the index of each row.
[[nodiscard]] std::unique_ptr<checkpoint_writer> write_by_scar(models::training& run, models::part what);

/// TOPN: the elements that have moved farthest from what a reader has, for their bytes and 4 for each index.
[[nodiscard]] std::unique_ptr<checkpoint_writer> write_by_topn(models::training& run, models::part what);

/// Whole states.
[[nodiscard]] std::unique_ptr<checkpoint_writer> write_full(models::training& run, models::part what);

}  // namespace bench::rework
