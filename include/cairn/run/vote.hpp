// SPDX-License-Identifier: MIT
// What the ranks of a group agree on in each call: every rank votes, and all derive the same verdict from the largest
// number of each field.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "cairn/schedule/base.hpp"

namespace cairn::inline v0_1::detail {

/// How far a rank is with the save that all ranks make together in the background.
enum class save_phase : std::uint8_t {
  none,
  copied,    ///< the share of the rank is copied
  writing,   ///< the share is encoded and written in the background
  prepared,  ///< the share is written
  publishing
};

/// What one rank reports in a call.
struct vote {
  std::uint64_t call = 0;  ///< hash of the call and its step
  /// Of the state and plan of the save whose copy this rank has made in this call: agreement_hash; 0: no copy was made.
  std::uint64_t copied = 0;
  save_phase phase = save_phase::none;
  bool has_failed = false;  ///< its part of the running save
  bool has_thrown = false;  ///< something else in this call
  bool is_leaving = false;  ///< by an exception
  int signal = 0;           ///< that asks to stop, or `time_limit`; 0: none
  /// Then: until the state must be saved.
  std::uint64_t milliseconds_left = std::numeric_limits<std::uint64_t>::max();

  // Of the leader, rank 0, alone:
  std::optional<decision> save{};  ///< what the policy has decided: all copy the state in the next call
  bool saves_copy = false;         ///< the copies of this call are to be saved
  bool pauses = false;             ///< it makes no save yet, after one that has failed
  std::uint64_t begun = 0;         ///< bytes of the text that the others need to join the checkpoint; 0: not begun yet
  std::uint64_t published = 0;  ///< bytes of the text by which the others learn of the checkpoint; 0: not published yet
  bool cancels = false;         ///< the running save is to end
};

/// A vote as numbers: combined over all ranks by the largest of each.
using ballot = std::array<std::uint64_t, 16>;

/// What all ranks know after a call.
struct verdict {
  bool is_same_call = true, is_same_copy = true;
  bool is_copied = false;                       ///< by some rank in this call
  save_phase slowest = save_phase::none;        ///< the phase that all ranks have reached
  bool has_failed = false, has_thrown = false;  ///< some rank
  std::optional<unsigned> leaving{};            ///< the lowest rank
  int signal = 0;
  std::uint64_t milliseconds_left = 0;
  std::optional<decision> save{};
  bool saves_copy = false, pauses = false, cancels = false;
  std::uint64_t begun = 0, published = 0;
};

/// The ballot of rank `rank` of `size`.
[[nodiscard]] inline ballot fill_ballot(const vote& mine, unsigned rank, unsigned size) noexcept {
  std::uint64_t save = 0;  // 0: none, 1: as the options say, else the kind
  if (mine.save && mine.save->save) save = mine.save->kind ? 2 + static_cast<std::uint64_t>(*mine.save->kind) : 1;
  return {mine.call,
          ~mine.call,
          mine.copied,
          ~mine.copied,
          ~static_cast<std::uint64_t>(mine.phase),
          mine.has_failed,
          mine.has_thrown,
          mine.is_leaving ? size - rank : 0U,  // the lowest rank has the largest number
          static_cast<std::uint64_t>(mine.signal),
          ~mine.milliseconds_left,
          save,
          mine.saves_copy,
          mine.begun,
          mine.published,
          mine.cancels,
          mine.pauses};
}

/// The verdict of `size` ranks, from the largest number of each field over all ballots.
[[nodiscard]] inline verdict read_ballots(std::span<const std::uint64_t> largest, unsigned size) noexcept {
  verdict all;
  all.is_same_call = largest[0] == ~largest[1];
  all.is_same_copy = largest[2] == ~largest[3];
  all.is_copied = largest[2] != 0;
  all.slowest = static_cast<save_phase>(~largest[4]);
  all.has_failed = largest[5] != 0;
  all.has_thrown = largest[6] != 0;
  if (largest[7] != 0) all.leaving = static_cast<unsigned>(size - largest[7]);
  all.signal = static_cast<int>(largest[8]);
  all.milliseconds_left = ~largest[9];
  if (largest[10] == 1) all.save = decision(true);
  if (largest[10] > 1) all.save = decision(true, static_cast<save_kind>(largest[10] - 2));
  all.saves_copy = largest[11] != 0;
  all.begun = largest[12];
  all.published = largest[13];
  all.cancels = largest[14] != 0;
  all.pauses = largest[15] != 0;
  return all;
}

}  // namespace cairn::inline v0_1::detail
