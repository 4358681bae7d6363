// How the ranks of a checkpointer act together: all succeed or all throw the same error, and the leader, rank 0, decides for all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/as_error.hpp"
#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/group/base.hpp"

namespace cairn::detail {

/// All ranks call the same functions in the same order. What one of them throws, all throw: the error of the lowest rank that has failed, which
/// its text names. A rank that does not answer within the time limit is errc::lost_rank; the team is then broken, and all further calls throw
/// that error. A team without a group has one rank, and communicates with nobody.
class team {
 public:
  team() = default;
  CAIRN_INLINE team(any_group group, std::chrono::milliseconds limit);

  [[nodiscard]] unsigned rank() const noexcept { return rank_; }
  [[nodiscard]] unsigned size() const noexcept { return size_; }
  [[nodiscard]] bool is_leader() const noexcept { return rank_ == 0; }
  [[nodiscard]] bool is_alone() const noexcept { return size_ == 1; }

  /// Calls `act` at each rank, and returns its result when all ranks have succeeded.
  template <class Act>
  auto all(const Act& act) {
    if (is_alone()) return act();
    std::optional<error> failure;
    if constexpr (std::is_void_v<decltype(act())>) {
      try {
        act();
      } catch (...) {
        failure = as_error(std::current_exception(), "a rank has failed");
      }
      agree(failure);
    } else {
      std::optional<decltype(act())> result;
      try {
        result.emplace(act());
      } catch (...) {
        failure = as_error(std::current_exception(), "a rank has failed");
      }
      agree(failure);
      return std::move(*result);
    }
  }

  /// Calls `act` at the leader, and returns its text at all ranks.
  CAIRN_INLINE std::string from_leader(const std::function<std::string()>& act);

  /// The texts of all ranks, in order of rank, at the leader; empty at the others.
  [[nodiscard]] CAIRN_INLINE std::vector<std::string> gather(std::string_view mine);

  /// errc::mismatch where the texts of the ranks are not the same: the error has `what` and the texts that differ.
  CAIRN_INLINE void require_same(std::string_view what, std::string_view mine);

  /// errc::mismatch where the ranks describe different leaves: the error names the first path that differs. O(leaves), and O(log leaves) collectives
  /// where they differ.
  CAIRN_INLINE void require_same_leaves(std::span<const leaf> leaves);

 private:
  /// All throw if one has failed.
  CAIRN_INLINE void agree(const std::optional<error>& failure);
  [[nodiscard]] CAIRN_INLINE std::vector<std::uint64_t> largest(std::span<const std::uint64_t> mine);
  /// Whether the ranks have the same number.
  [[nodiscard]] CAIRN_INLINE bool is_same(std::uint64_t mine);
  [[nodiscard]] CAIRN_INLINE std::string broadcast(std::string_view text, unsigned root, std::uint64_t size);
  CAIRN_INLINE void wait_for(groups::operation& started);

  std::optional<any_group> group_{};
  unsigned rank_ = 0, size_ = 1;
  std::chrono::milliseconds limit_{};
  std::optional<error> broken_{};
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/group/team.ipp"  // IWYU pragma: keep
#endif
