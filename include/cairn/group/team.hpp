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
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/group/base.hpp"
#include "cairn/system/clock.hpp"

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

/// Adds a text, after its number of bytes.
inline void append_text(std::string& to, std::string_view text) {
  const std::uint64_t size = text.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

/// Takes such a text from the beginning of `from`. nullopt for other bytes.
[[nodiscard]] inline std::optional<std::string> take_text(std::string_view& from) {
  std::uint64_t size = 0;
  if (from.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, from.data(), sizeof size);
  from.remove_prefix(sizeof size);
  if (size > from.size()) return std::nullopt;
  std::string text(from.substr(0, size));
  from.remove_prefix(size);
  return text;
}

/// A list of texts as one.
[[nodiscard]] inline std::string join_texts(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& each : all) append_text(text, each);
  return text;
}
/// The list of such a text.
[[nodiscard]] inline std::vector<std::string> split_texts(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) all.push_back(take_text(text).value());
  return all;
}

/// The texts of `ranks` ranks, each followed by as many zeros as the longest needs. errc::corrupt names the rank.
[[nodiscard]] inline std::vector<std::string> read_records(std::span<const std::byte> records, unsigned ranks) {
  const auto bytes = records.size() / ranks;
  std::vector<std::string> texts;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    std::string_view record(reinterpret_cast<const char*>(records.data()) + rank * bytes, bytes);
    auto text = take_text(record);
    if (!text) fail(errc::corrupt, {"rank ", rank, ": its record of ", bytes, " bytes is damaged"});
    texts.push_back(*std::move(text));
  }
  return texts;
}

/// All ranks call the same functions in the same order. What one throws, all throw: the error of the lowest rank that
/// has failed, which its text names. A rank that does not answer within the time limit is errc::lost_rank; the team is
/// then broken, and further calls throw that error. A team without a group has one rank and no communication.
class team {
 public:
  team() = default;
  team(any_group group, std::chrono::milliseconds limit)
      : group_(std::move(group)), rank_(group_->rank()), size_(group_->size()), limit_(limit) {
    if (size_ == 0 || rank_ >= size_) fail(errc::invalid, {"rank ", rank_, " of a group of ", size_, " ranks"});
    if (is_alone()) group_.reset();
  }

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
  void begin_round(std::span<const std::uint64_t> mine) {
    if (is_alone()) return own_round_.assign(mine.begin(), mine.end());
    communicate([&] { round_ = group_->start_max(mine); });
  }
  [[nodiscard]] bool is_in_round() const noexcept { return round_ || !own_round_.empty(); }
  /// Makes progress with the round. Returns whether it is complete. Never waits.
  bool test_round() {
    return communicate([&] { return !round_ || round_->test(); });
  }
  [[nodiscard]] std::vector<std::uint64_t> end_round() {
    if (is_alone()) return std::exchange(own_round_, {});
    return communicate([&] {
      wait_for(*round_);
      const auto result = round_->result();
      std::vector<std::uint64_t> all(result.size() / sizeof(std::uint64_t));
      std::memcpy(all.data(), result.data(), result.size());
      round_.reset();
      return all;
    });
  }

  // Messages, see messaging_group. Without a group there are none.
  [[nodiscard]] bool can_send() const { return group_ && group_->can_send(); }
  [[nodiscard]] groups::started send(std::vector<std::byte> bytes, unsigned to, unsigned channel) {
    return communicate([&] { return group_->start_send(std::move(bytes), to, channel); });
  }
  [[nodiscard]] groups::started receive(std::size_t size, unsigned from, unsigned channel) {
    return communicate([&] { return group_->start_receive(size, from, channel); });
  }
  [[nodiscard]] bool test(groups::operation& message) {
    return communicate([&] { return message.test(); });
  }

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

  /// Calls `act` at the leader, and returns its result at all ranks: a text, a list of texts, or a value that is copied
  /// byte by byte.
  template <class Act>
  auto from_leader(const Act& act) {
    using result = decltype(act());
    if constexpr (std::is_convertible_v<result, std::string>) {
      return text_from_leader(act);
    } else if constexpr (std::is_same_v<result, std::vector<std::string>>) {
      if (is_alone()) return act();
      const auto text = text_from_leader([&] { return join_texts(act()); });
      return all([&] { return split_texts(text); });
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
  [[nodiscard]] std::string broadcast(std::string_view text, unsigned root, std::uint64_t size) {
    if (is_alone()) return std::string(text);
    return communicate([&]() -> std::string {
      const auto started = group_->start_broadcast(std::as_bytes(std::span(text)), size, root);
      wait_for(*started);
      return {reinterpret_cast<const char*>(started->result().data()), size};
    });
  }

  /// Gives all ranks the bytes of `root`, in memory of the same size.
  void broadcast(std::span<std::byte> memory, unsigned root) {
    if (is_alone()) return;
    communicate([&] {
      const auto own = std::span<const std::byte>(memory).first(rank_ == root ? memory.size() : 0);
      const auto started = group_->start_broadcast(own, memory.size(), root);
      wait_for(*started);
      if (rank_ != root) std::copy_n(started->result().begin(), memory.size(), memory.begin());
    });
  }

  /// Calls `act` at each rank, and returns their texts at the leader, in order of rank; nothing at the others. What one
  /// rank throws, all throw.
  template <class Act>
  [[nodiscard]] std::vector<std::string> gather(const Act& act) {
    return gather_texts(all([&] { return std::string(act()); }));
  }

  /// The numbers of all ranks, in order of rank, at all ranks.
  [[nodiscard]] std::vector<std::uint64_t> all_gather(std::uint64_t mine) {
    std::vector<std::uint64_t> numbers(size_);
    numbers[rank_] = mine;
    return is_alone() ? numbers : largest(numbers);
  }

  /// errc::mismatch where the texts of the ranks are not the same: the error has `what` and the texts that differ.
  void require_same(std::string_view what, std::string_view mine) {
    if (is_same(checksum(std::as_bytes(std::span(mine))))) return;
    const auto texts = gather_texts(mine);
    from_leader([&]() -> std::string {
      constexpr std::size_t most = 4;
      std::string all;
      std::set<std::string_view> said;
      for (unsigned rank = 0; rank < size_ && said.size() < most; ++rank)
        if (said.insert(texts[rank]).second)
          all += (all.empty() ? "" : ", ") + ("rank " + std::to_string(rank) + ": ") + texts[rank];
      fail(errc::mismatch, {"the ranks differ in ", what, ": ", all});
    });
  }

  /// errc::mismatch where the lists of the ranks differ, which `list()` gives: the error has `what` and the first text
  /// that differs from the leader's, which sends its list.
  void require_same_list(std::string_view what, const std::function<std::vector<std::string>()>& list) {
    std::vector<std::string> texts;
    all([&] { texts = list(); });
    const auto of_leader = from_leader([&] { return texts; });
    all([&] {
      const auto [own, other] = std::ranges::mismatch(texts, of_leader);
      if (own == texts.end() && other == of_leader.end()) return;
      constexpr std::string_view none = "no further part";
      fail(errc::mismatch, {"the ranks differ in ", what, ": rank 0: ", other == of_leader.end() ? none : *other,
                            ", rank ", rank_, ": ", own == texts.end() ? none : *own});
    });
  }

  /// Whether the ranks have the same number.
  [[nodiscard]] bool is_same(std::uint64_t mine) {
    if (is_alone()) return true;
    const std::uint64_t numbers[] = {mine, ~mine};
    const auto all = largest(numbers);
    return all[0] == ~all[1];
  }

 private:
  std::string text_from_leader(const std::function<std::string()>& act) {
    if (is_alone()) return act();
    std::string text;
    all([&] {
      if (is_leader()) text = act();
    });
    const std::uint64_t mine[] = {text.size()};
    const auto size = largest(mine)[0];
    return broadcast(text, 0, size);
  }
  [[nodiscard]] std::vector<std::string> gather_texts(std::string_view mine) {
    if (is_alone()) return {std::string(mine)};
    const std::uint64_t own[] = {mine.size()};
    std::string record;  // each rank gives as many bytes
    append_text(record, mine);
    record.append(largest(own)[0] - mine.size(), '\0');
    return communicate([&] {
      const auto started = group_->start_gather(std::as_bytes(std::span(record)), 0);
      wait_for(*started);
      return is_leader() ? read_records(started->result(), size_) : std::vector<std::string>();
    });
  }
  /// All throw if one has failed.
  /// The lowest rank that has failed has the largest `size - rank`; it broadcasts its error.
  void agree(const std::optional<error>& failure) {
    const auto text = failure ? write_failure(*failure) : std::string();
    const std::uint64_t mine[] = {failure ? size_ - rank_ : 0, text.size()};
    const auto all = largest(mine);
    if (all[0] == 0) return;
    const auto failed = static_cast<unsigned>(size_ - all[0]);
    // The number of bytes has to be the same at all ranks: that of the longest text.
    std::string message;
    if (failed == rank_) {
      message = text;
      message.resize(all[1], '\0');
    }
    const auto same = read_failure(broadcast(message, failed, all[1]), failed);
    throw failure && failure->state_changed() ? same.after_change() : same;
  }
  [[nodiscard]] std::vector<std::uint64_t> largest(std::span<const std::uint64_t> mine) {
    begin_round(mine);
    return end_round();
  }
  /// Polls, at first without a pause, so that ranks which arrive together do not sleep; then less and less often, so
  /// that those which wait leave the processor to the others.
  void wait_for(groups::operation& started) {
    using namespace std::chrono;
    constexpr int polls = 100, yields = 1000;
    constexpr microseconds longest(1000);
    waiting_time waited;
    microseconds pause(20);
    for (int tries = 0;; ++tries) {
      if (started.test()) return;
      if (tries < polls) continue;
      if (tries < yields) {
        yield_processor();
        continue;
      }
      if (waited.seconds() > duration<double>(limit_).count()) {
        std::string missing;
        for (const auto rank : group_->roll_call(milliseconds(1000))) missing.append(" ").append(std::to_string(rank));
        fail(errc::lost_rank, {"the ranks have waited for ", limit_.count(),
                               " ms; these have not answered:", missing.empty() ? " none, all are there" : missing});
      }
      pause_for(pause);
      pause = std::min(2 * pause, longest);
    }
  }
  /// Calls `act`, which communicates; what it throws breaks the team.
  template <class Act>
  auto communicate(const Act& act) -> decltype(act()) {
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
