// Elements of any type -> byte planes, those coded that are worth it -> the same elements, bit for bit.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "cairn/core/config.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/encode/base.hpp"

namespace cairn::codecs {

/// Loses nothing, whatever the bits mean. Takes out the elements that are zero where there are many; of the others, bytes of
/// the same significance are coded together: of a floating-point number the exponent is worth it, its lower bytes hardly ever
/// are. Leaves that it cannot make 3 % smaller are stored as they are. Models `codec`.
struct lossless {
  /// Code the difference (XOR) to the parent checkpoint, where that is smaller: for what changes little in between. Costs as much
  /// memory as the leaves have.
  bool xor_parent = false;

  [[nodiscard]] std::string name() const { return "lossless"; }
  [[nodiscard]] bool uses_parent() const noexcept { return xor_parent; }
  /// Values in the last bytes of `out` may be encoded over themselves.
  [[nodiscard]] static constexpr bool encodes_in_place() noexcept { return true; }
  [[nodiscard]] CAIRN_INLINE std::size_t bound(dtype type, std::size_t bytes) const noexcept;
  /// Takes a few bytes of memory per element of a block of 2^17 and thread; leaves `reference` alone.
  [[nodiscard]] CAIRN_INLINE encoded encode(const encode_request& in, std::span<std::byte> out) const;
  /// Decodes what any `lossless` encoded.
  CAIRN_INLINE void decode(const decode_request& from) const;
};

}  // namespace cairn::codecs

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/encode/lossless.ipp"  // IWYU pragma: keep
#endif
