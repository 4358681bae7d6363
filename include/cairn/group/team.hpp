// SPDX-License-Identifier: MIT
// How the ranks of a checkpointer act together: all succeed or throw the same error, and the leader, rank 0, decides.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/as_error.hpp"
#include "cairn/core/error.hpp"
#include "cairn/group/base.hpp"

namespace cairn::inline v0_1::detail {

/// Bytes of a message of a failure besides its sentence: the code, and whether the state has changed.
inline constexpr std::size_t failure_head = 2;

[[nodiscard]] inline std::string write_failure(const error& failure) {
  std::string text;
  text += static_cast<char>('a' + static_cast<int>(failure.code()));
  text += failure.state_changed() ? '!' : ' ';
  try {
    text += failure.sentence();
  } catch (const std::bad_alloc&) {  // the code alone, so that the others do not wait
  }
  return text;
}

/// An error of rank `rank`, as all ranks throw it.
[[nodiscard]] inline error name_rank(unsigned rank, const error& failure) {
  error named(failure.code(), "rank " + std::to_string(rank) + ": " + std::string(failure.sentence()));
  return failure.state_changed() ? named.after_change() : named;
}

/// The error of rank `rank`, from its message, which zeros may follow.
[[nodiscard]] inline error read_failure(std::string_view text, unsigned rank) {
  const auto code = text.empty() ? -1 : text[0] - 'a';
  if (text.size() < failure_head || code < 0 || code > static_cast<int>(errc::lost_rank))
    return name_rank(rank, {errc::corrupt, "has failed, and its message of that is damaged"});
  const auto sentence = text.substr(failure_head, text.find('\0', failure_head) - failure_head);
  const error failure(static_cast<errc>(code), std::string(sentence));
  return name_rank(rank, text[1] == '!' ? failure.after_change() : failure);
}

/// A text for a gather in which each rank gives as many bytes, `most` of text. Precondition: the text has no more.
[[nodiscard]] inline std::string write_record(std::string_view text, std::size_t most) {
  const std::uint64_t size = text.size();
  std::string record(sizeof size + most, '\0');
  std::memcpy(record.data(), &size, sizeof size);
  std::copy(text.begin(), text.end(), record.begin() + sizeof size);
  return record;
}

/// The texts of `ranks` ranks, from their records, one after another. errc::corrupt names the rank.
[[nodiscard]] inline std::vector<std::string> read_records(std::span<const std::byte> records, unsigned ranks) {
  const auto bytes = records.size() / ranks;
  std::vector<std::string> texts;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const auto* const at = reinterpret_cast<const char*>(records.data()) + rank * bytes;
    std::uint64_t size = 0;
    if (bytes >= sizeof size) std::memcpy(&size, at, sizeof size);
    if (bytes < sizeof size || size > bytes - sizeof size)
      fail(errc::corrupt, {"rank ", rank, ": its record of ", bytes, " bytes is damaged"});
    texts.emplace_back(at + sizeof size, size);
  }
  return texts;
}

/// All ranks call the same functions in the same order. What one throws, all throw: the error of the lowest rank that
/// has failed, which its text names. A rank that does not answer within the time limit is errc::lost_rank; the team is
/// then broken, and further calls throw that error. A team without a group has one rank and no communication.
class team {
 public:
  team() = default;
  team(any_group group, std::chrono::milliseconds limit);

  [[nodiscard]] unsigned rank() const noexcept { return rank_; }
  [[nodiscard]] unsigned size() const noexcept { return size_; }
  [[nodiscard]] bool is_leader() const noexcept { return rank_ == 0; }
  [[nodiscard]] bool is_alone() const noexcept { return size_ == 1; }
  /// A rank is lost, or MPI has failed: all calls throw.
  [[nodiscard]] bool is_broken() const noexcept { return broken_.has_value(); }
  void give_up(const error& cause) { broken_ = cause; }
  /// From now on the time limit is not above `limit`.
  void wait_at_most(std::chrono::milliseconds limit) {
    if (limit < limit_) limit_ = limit;
  }

  /// Starts a round: the largest of each number over all ranks, which `end_round` returns when all ranks have started
  /// theirs. At most one round is under way, and no other collective of this team is called before it has ended.
  void begin_round(std::span<const std::uint64_t> mine);
  [[nodiscard]] bool is_in_round() const noexcept { return round_ || !own_round_.empty(); }
  /// Makes progress with the round. Returns whether it is complete. Never waits.
  bool test_round();
  [[nodiscard]] std::vector<std::uint64_t> end_round();

  /// Calls `act` at each rank, and returns its result when all ranks have succeeded.
  template <class Act>
  auto all(const Act& act) {
    if (is_alone()) return act();
    if constexpr (std::is_void_v<decltype(act())>) {
      std::optional<error> failure;
      try {
        act();
      } catch (...) {
        failure = as_error(std::current_exception(), {"a rank has failed"});
      }
      agree(failure);
    } else {
      std::optional<decltype(act())> result;
      all([&] { result.emplace(act()); });
      return std::move(*result);
    }
  }

  /// An error of this rank as `all` throws it.
  [[nodiscard]] error named(const error& failure) const { return name_rank(rank_, failure); }

  /// Calls `act` at the leader, and returns its result at all ranks: a text, or a value that is copied byte by byte.
  template <class Act>
  auto from_leader(const Act& act) {
    using result = decltype(act());
    if constexpr (std::is_convertible_v<result, std::string>) {
      return text_from_leader(act);
    } else {
      static_assert(std::is_trivially_copyable_v<result> && !std::is_pointer_v<result>);
      result value{};
      all([&] {
        if (is_leader()) value = act();
      });
      broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
      return value;
    }
  }

  /// The text of `root`, of `size` bytes, at all ranks.
  [[nodiscard]] std::string broadcast(std::string_view text, unsigned root, std::uint64_t size);

  /// Gives all ranks the bytes of `root`, in memory of the same size.
  void broadcast(std::span<std::byte> memory, unsigned root);

  /// Calls `act` at each rank, and returns their texts at the leader, in order of rank; nothing at the others. What one
  /// rank throws, all throw.
  template <class Act>
  [[nodiscard]] std::vector<std::string> gather(const Act& act) {
    return gather_texts(all([&] { return std::string(act()); }));
  }

  /// The numbers of all ranks, in order of rank, at all ranks.
  [[nodiscard]] std::vector<std::uint64_t> all_gather(std::uint64_t mine);

  /// errc::mismatch where the texts of the ranks are not the same: the error has `what` and the texts that differ.
  void require_same(std::string_view what, std::string_view mine);

  /// errc::mismatch where the lists of the ranks differ: the error has `what` and the first text that differs.
  /// O(texts), and O(log texts) collectives where they differ.
  void require_same_list(std::string_view what, std::span<const std::string> texts);

  /// Whether the ranks have the same number.
  [[nodiscard]] bool is_same(std::uint64_t mine);

 private:
  std::string text_from_leader(const std::function<std::string()>& act);
  [[nodiscard]] std::vector<std::string> gather_texts(std::string_view mine);
  /// All throw if one has failed.
  void agree(const std::optional<error>& failure);
  [[nodiscard]] std::vector<std::uint64_t> largest(std::span<const std::uint64_t> mine);
  void wait_for(groups::operation& started);
  /// Calls `act`, which communicates; what it throws breaks the team.
  template <class Act>
  auto communicate(const Act& act) {
    if (broken_) throw error(*broken_);
    try {
      return act();
    } catch (...) {
      broken_ = as_error(std::current_exception(), {"the ranks cannot communicate"});
      round_.reset();
      throw error(*broken_);
    }
  }

  std::optional<any_group> group_{};
  unsigned rank_ = 0, size_ = 1;
  std::chrono::milliseconds limit_{};
  std::optional<error> broken_{};
  groups::started round_{};
  std::vector<std::uint64_t> own_round_{};  // without a group
};

}  // namespace cairn::inline v0_1::detail
