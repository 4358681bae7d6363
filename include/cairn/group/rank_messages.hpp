// SPDX-License-Identifier: MIT
// What the ranks of a team tell each other as text. What another rank has sent is checked before it is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// Bytes of a message of a failure besides its sentence: the code, and whether the state has changed.
inline constexpr std::size_t failure_head = 2;

[[nodiscard]] inline std::string write_failure(const error& failure) {
  std::string text;
  text += static_cast<char>('a' + static_cast<int>(failure.code()));
  text += failure.state_changed() ? '!' : ' ';
  text += failure.sentence();
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

}  // namespace cairn::inline v0_1::detail
