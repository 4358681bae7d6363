// SPDX-License-Identifier: MIT
// Definitions of team.hpp.
#pragma once

#include <set>

#include "cairn/core/checksum.hpp"
#include "cairn/group/team.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

team::team(any_group group, std::chrono::milliseconds limit)
    : group_(std::move(group)), rank_(group_->rank()), size_(group_->size()), limit_(limit) {
  if (size_ == 0 || rank_ >= size_) fail(errc::invalid, {"rank ", rank_, " of a group of ", size_, " ranks"});
  if (is_alone()) group_.reset();
}

/// Polls, at first without a pause, so that ranks which arrive together do not sleep; then less and less often, so that
/// those which wait leave the processor to the others.
void team::wait_for(groups::operation& started) {
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

void team::begin_round(std::span<const std::uint64_t> mine) {
  if (is_alone()) return own_round_.assign(mine.begin(), mine.end());
  communicate([&] { round_ = group_->start_max(mine); });
}

bool team::test_round() {
  return communicate([&] { return !round_ || round_->test(); });
}

std::vector<std::uint64_t> team::end_round() {
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

std::vector<std::uint64_t> team::largest(std::span<const std::uint64_t> mine) {
  begin_round(mine);
  return end_round();
}

std::string team::broadcast(std::string_view text, unsigned root, std::uint64_t size) {
  if (is_alone()) return std::string(text);
  return communicate([&]() -> std::string {
    const auto started = group_->start_broadcast(std::as_bytes(std::span(text)), size, root);
    wait_for(*started);
    return {reinterpret_cast<const char*>(started->result().data()), size};
  });
}

void team::broadcast(std::span<std::byte> memory, unsigned root) {
  if (is_alone()) return;
  communicate([&] {
    const auto own = std::span<const std::byte>(memory).first(rank_ == root ? memory.size() : 0);
    const auto started = group_->start_broadcast(own, memory.size(), root);
    wait_for(*started);
    if (rank_ != root) std::copy_n(started->result().begin(), memory.size(), memory.begin());
  });
}

bool team::is_same(std::uint64_t mine) {
  if (is_alone()) return true;
  const std::uint64_t numbers[] = {mine, ~mine};
  const auto all = largest(numbers);
  return all[0] == ~all[1];
}

/// The lowest rank that has failed has the largest `size - rank`; it broadcasts its error.
void team::agree(const std::optional<error>& failure) {
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

std::string team::text_from_leader(const std::function<std::string()>& act) {
  if (is_alone()) return act();
  std::string text;
  all([&] {
    if (is_leader()) text = act();
  });
  const std::uint64_t mine[] = {text.size()};
  const auto size = largest(mine)[0];
  return broadcast(text, 0, size);
}

std::vector<std::string> team::gather_texts(std::string_view mine) {
  if (is_alone()) return {std::string(mine)};
  const std::uint64_t own[] = {mine.size()};
  const auto record = write_record(mine, largest(own)[0]);
  return communicate([&] {
    const auto started = group_->start_gather(std::as_bytes(std::span(record)), 0);
    wait_for(*started);
    return is_leader() ? read_records(started->result(), size_) : std::vector<std::string>();
  });
}

std::vector<std::uint64_t> team::all_gather(std::uint64_t mine) {
  std::vector<std::uint64_t> numbers(size_);
  numbers[rank_] = mine;
  return is_alone() ? numbers : largest(numbers);
}

void team::require_same(std::string_view what, std::string_view mine) {
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

void team::require_same_list(std::string_view what, std::span<const std::string> texts) {
  if (is_alone()) return;
  std::vector<std::uint64_t> before{0};  // the hash of the first i texts
  running_checksum hash;
  for (const auto& each : texts) {
    hash.add(std::as_bytes(std::span(each)));
    hash.add(std::as_bytes(std::span("", 1)));
    before.push_back(hash.value());
  }
  if (is_same(before.back())) return;
  const auto fewest = ~largest(std::vector{~std::uint64_t{texts.size()}})[0];
  std::uint64_t same = 0,
                differ = fewest + 1;  // prefixes of these lengths; that of `fewest + 1` differs, since its length does
  while (differ - same > 1) {
    const auto middle = same + (differ - same) / 2;
    (is_same(before[middle]) ? same : differ) = middle;
  }
  require_same(what, same < texts.size() ? std::string_view(texts[same]) : "no further part");
  fail(errc::mismatch, {"the ranks differ in ", what});  // by a collision of hashes
}

}  // namespace cairn::inline v0_1::detail
