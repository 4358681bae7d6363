// SPDX-License-Identifier: MIT
// The save or merge that is under way.
//
//          copy              begin, join, write           unite, publish
//   (none) ------> copied ----------------------> written ---------------> published --> a merge that is due: copied
//                    |         (writing)             |     (publishing)        |                     else: (none)
//                    +-------------------------------+-------------------------+--> failed or cancelled: (none)
//
// - copied: `shards` are the copy of what this process writes, or lie in the state's memory where the trainer waits.
//   The leader begins the checkpoint:
//   afterwards it has `begun`, the text that the others need to join it.
// - writing: each process encodes and writes its shards. Afterwards it has the `record` of them.
// - prepared: they are written, and nothing can be seen of them.
// - publishing: the leader has the records of all, and publishes. Afterwards it has `published`.
//
// The phases run in the background thread, or in the training thread where the trainer waits for the save. Between them
// the training thread of each process votes, and all start the next phase on the same verdict (vote.hpp). A process
// without a group needs no votes: its background thread runs all phases in one job (session::run_through). While a job
// runs (`is_done` is false), the members belong to it, but for those that are marked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cairn/chain/attempt.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/report.hpp"
#include "cairn/run/policy_driver.hpp"
#include "cairn/run/record.hpp"
#include "cairn/run/vote.hpp"

namespace cairn::inline v0_1::detail {

struct work {
  // For the training thread alone:
  bool is_sync = false;  // the trainer waits for it
  save_phase phase = save_phase::copied;
  save_timeline times{};            // the background reads only `began`, which is set before it starts
  std::optional<save_kind> kind{};  // that the policy has chosen
  bool is_hang_reported = false;    // of the save or merge
  bool is_skip_reported = false;    // that others are skipped because of it

  std::shared_ptr<save_job> job{};           // of a save
  rank_share share{};                        // what this process writes of it, in a group
  std::uint64_t hash = 0;                    // that all ranks of a group must have in common: agreement_hash
  shards_of<staged_piece> shards{};          // what is written next
  std::size_t shards_of_save = 0;            // of this process, in all
  bool one_by_one = false;                   // each shard is written before the next one is encoded
  std::unique_ptr<encode_source> encodes{};  // of a save
  std::unique_ptr<merge_source> merges{};    // of a merge
  std::optional<attempt> part{};
  std::string begun{}, record{}, published{};
  std::optional<published_checkpoint> made{};
  shared_report report{};           // of the published save; during the merge after it, too
  bool is_published = false;        // the save, and all ranks know it
  std::optional<error> failure{};   // of the save or merge
  bool has_ended = false;           // its failure is reported
  std::atomic<bool> is_done{true};  // no job of it runs. Any thread
  std::shared_ptr<save_progress> progress = std::make_shared<save_progress>();  // its handle. Any thread

  [[nodiscard]] bool is_merge() const noexcept { return merges != nullptr; }
  [[nodiscard]] bool has_failed() const noexcept { return is_done && failure; }
};

}  // namespace cairn::inline v0_1::detail
