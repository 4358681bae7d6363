// SPDX-License-Identifier: MIT
// Decodes some elements of a payload, whose bytes are there only after the codec has asked for them.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/encode/base.hpp"
#include "../standard.hpp"

namespace fuzz {

/// Aborts if the codec reads outside of the payload, or fills the middle third of the elements with others than
/// `whole`; that is empty where the payload could not be decoded. `from` has all but the memory of the elements, of
/// which `before` are the parent's.
template <class Codec>
void decode_part(const Codec& codec, cairn::decode_request from, const std::vector<std::byte>& before,
                 const std::vector<std::byte>& whole) {
  const auto stored = from.payload;
  const auto width = size_of(from.type), count = before.size() / width;
  std::vector<std::byte> payload(stored.size(), std::byte{0xEE}), values = before;
  const std::function<void(std::size_t, std::size_t)> read = [&](std::size_t begin, std::size_t end) {
    if (begin > end || end > stored.size()) std::abort();
    if (begin < end) std::memcpy(payload.data() + begin, stored.data() + begin, end - begin);
  };
  from.payload = payload;
  from.values = values;
  from.wanted = {count / 3, count - count / 3};
  from.read = &read;
  try {
    codec.decode(from);
  } catch (const cairn::error& error) {
    if (error.code() != cairn::errc::corrupt || !whole.empty()) std::abort();
    return;
  }
  const auto begin = from.wanted.first * width, bytes = (from.wanted.last - from.wanted.first) * width;
  if (!whole.empty() && bytes > 0 && std::memcmp(values.data() + begin, whole.data() + begin, bytes) != 0) std::abort();
}

}  // namespace fuzz
