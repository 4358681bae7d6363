// SPDX-License-Identifier: MIT
// The encodings of a shard's tensors as JSON text, and back from untrusted text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "cairn/core/encoding.hpp"

namespace cairn::inline v0_1::detail {

/// By tensor key.
using encoded_tensors = std::map<std::string, encoding_info, std::less<>>;

/// A stored byte stands for at most this many bytes of elements. This bounds a reader's memory by the size of the file.
inline constexpr std::uint64_t max_expansion = std::uint64_t{1} << 18U;

/// {"w":{"codec":"lc2","dtype":"F32","shape":[2,3],"relative":1,"max_error":0.5,"relative_l2":0.01,"delta_l2":0.2}}. The last four are
/// left out where they do not apply. errc::invalid for names that are not UTF-8.
[[nodiscard]] std::string write_encoded_tensors(const encoded_tensors& all);

/// The encodings of `text`. errc::corrupt names `origin`.
[[nodiscard]] encoded_tensors read_encoded_tensors(std::string_view text, std::string_view origin);

}  // namespace cairn::inline v0_1::detail
