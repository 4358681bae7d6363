// SPDX-License-Identifier: MIT
// The codec that stores elements as they are.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "cairn/core/dtype.hpp"
#include "cairn/core/error.hpp"
#include "cairn/encode/base.hpp"

namespace cairn::inline v0_1::codecs {

/// For leaves that are to be plain tensors, which any reader of safetensors can open. Models `codec`.
struct raw {
  [[nodiscard]] std::string name() const { return "raw"; }
  [[nodiscard]] bool uses_parent() const noexcept { return false; }
  /// It writes nothing.
  [[nodiscard]] std::size_t bound(dtype /*type*/, std::size_t /*bytes*/) const noexcept { return 0; }
  /// Never pays.
  [[nodiscard]] encode_result encode(const encode_request& /*in*/, std::span<std::byte> /*out*/) const { return {}; }
  /// errc::corrupt unless the payload is the elements themselves.
  void decode(const decode_request& from) const {
    if (from.payload.size() != from.values.size())
      fail(errc::corrupt, {from.where, ": \"", from.path, "\": has ", from.payload.size(),
                           " bytes where its elements take ", from.values.size()});
    if (from.relative)
      fail(errc::corrupt, {from.where, ": \"", from.path, "\": is stored as it is, but said to be relative"});
    if (!from.values.empty()) std::memcpy(from.values.data(), from.payload.data(), from.values.size());
  }
};

}  // namespace cairn::inline v0_1::codecs
