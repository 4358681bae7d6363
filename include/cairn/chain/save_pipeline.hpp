// Encodes and writes the shards of one save, in order, and publishes the checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cairn/chain/delta_base.hpp"
#include "cairn/chain/save_job.hpp"
#include "cairn/core/config.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"

namespace cairn::detail {

/// One save. Shards may be added all at once or a few at a time, so that a state larger than the memory for its copy can be staged in
/// parts. Destroyed before `finish` has returned, it leaves nothing behind in the store.
class save_pipeline {
 public:
  /// The save of `job` in `shards` shards. With a `base`, the checkpoint is a delta where the codecs use one and the chain allows it;
  /// the base then becomes this checkpoint. `store`, `job` and `base` must outlive the pipeline.
  save_pipeline(any_store& store, const save_job& job, std::size_t shards, delta_base* base = nullptr);
  ~save_pipeline();
  save_pipeline(const save_pipeline&) = delete;
  save_pipeline& operator=(const save_pipeline&) = delete;

  /// Encodes and writes the next shards. Staged pieces are encoded in place where their codec can; afterwards their memory is free.
  void add(std::span<std::vector<piece>> shards);

  /// Publishes the checkpoint. To be called once, after all shards were added.
  [[nodiscard]] save_report finish();

 private:
  struct stages;
  std::unique_ptr<stages> self_;
};

/// Saves a job from the state's own memory, in `shards` shards.
CAIRN_INLINE save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards = 1,
                                         delta_base* base = nullptr);

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/chain/save_pipeline.ipp"  // IWYU pragma: keep
#endif
