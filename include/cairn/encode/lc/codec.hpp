// SPDX-License-Identifier: MIT
// The lossy delta codec behind codecs::lc. Does not make the codec known to loads: see encode/lc.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/encode/base.hpp"
#include "cairn/encode/lc/options.hpp"

namespace cairn::inline v0_1::detail::lc {

/// See codec.
[[nodiscard]] std::size_t bound(dtype type, std::size_t bytes);

/// Encodes with symbols of `bits` bits, or three where two exceed a bound; payloads are named `name`.
[[nodiscard]] encode_result encode(const options& how, unsigned bits, std::string_view name, const encode_request& in,
                                   std::span<std::byte> out);
void decode(const decode_request& from);

/// One payload with the steps of all, the oldest first. Nothing when one is of another codec, or that payload would not
/// be smaller than the elements. Code tables that they name by id are still needed. errc::corrupt: one is malformed.
[[nodiscard]] std::optional<std::vector<std::byte>> merge(const merge_request& in);

}  // namespace cairn::inline v0_1::detail::lc
