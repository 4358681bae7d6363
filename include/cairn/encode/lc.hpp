// Lossy deltas: what changed since the parent checkpoint, in two or three bits per element before they are Huffman-coded.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/encode/base.hpp"
#include "cairn/encode/lc/options.hpp"

namespace cairn {

namespace lossy {

struct survey_result;

[[nodiscard]] CAIRN_INLINE std::size_t bound(dtype type, std::size_t bytes);
[[nodiscard]] CAIRN_INLINE encoded encode(const lc_options& options, unsigned bits, std::string_view name,
                                          const survey_result* shared, const encode_request& in,
                                          std::span<std::byte> out);
CAIRN_INLINE void decode(const decode_request& from);
[[nodiscard]] CAIRN_INLINE std::shared_ptr<const survey_result> survey_state(const lc_options& options,
                                                                             std::span<const encode_request> all);

}  // namespace lossy

namespace codecs {

/// Deltas to the parent checkpoint, quantized: (sign, exponent) buckets, of which the 2^Bits - 1 foremost are symbols and all
/// others zero; symbols are packed into bytes, and these Huffman-coded. The tracked approximation, which writer and reader hold
/// alike, moves by what was stored, so that the error of one checkpoint is part of the next delta and does not pile up.
///
/// For F32, BF16 and F16 leaves that have a parent. Others, small ones, and those that would pass a bound even with three bits
/// are encoded by codecs::lossless, as `encoded.codec` says. Elements whose delta is not finite are kept exactly.
/// Complexity: two passes over values and reference; a mean or a promotion by energy makes the first one slower.
/// Source: Chen, Liu, Ren, Jin, "On Efficient Constructions of Checkpoints", ICML 2020; see lc_options for what is not from there.
template <int Bits>
struct lc {
  static_assert(Bits == 2 || Bits == 3, "lc has symbols of 2 or 3 bits");

  /// Which buckets get a symbol.
  promotion priority = promotion::magnitude;
  /// What stands for the members of a bucket.
  bucket_value value = bucket_value::midpoint;
  /// One choice of buckets per leaf, or one for all leaves that are encoded into a checkpoint.
  bucket_scope buckets = bucket_scope::per_leaf;
  /// No decoded element is below it, but those that are kept exactly: 0 for a mean of squares.
  /// Rounded up to an element of the leaf's dtype; errc::invalid when it is not finite there.
  std::optional<float> floor{};
  /// A leaf of which an element would be farther than this from the real one takes three bits or goes without loss.
  std::optional<double> max_error{};
  /// The same for the distance of all elements over the norm of the real ones (L2).
  std::optional<double> max_relative_l2{};
  /// What `prepare` found out; leave it empty.
  std::shared_ptr<const lossy::survey_result> prepared{};

  [[nodiscard]] std::string name() const { return Bits == 2 ? "lc2" : "lc3"; }
  [[nodiscard]] bool uses_parent() const { return true; }
  [[nodiscard]] std::size_t bound(dtype type, std::size_t bytes) const { return lossy::bound(type, bytes); }

  /// With bucket_scope::whole_state, chooses the buckets that all of `all` together want; without, does nothing.
  [[nodiscard]] lc prepare(std::span<const encode_request> all) const {
    lc copy = *this;
    copy.prepared = buckets == bucket_scope::whole_state ? lossy::survey_state(options(), all) : nullptr;
    return copy;
  }

  [[nodiscard]] encoded encode(const encode_request& in, std::span<std::byte> out) const {
    return lossy::encode(options(), Bits, name(), prepared.get(), in, out);
  }

  /// Any payload of lc<2> or lc<3>, and what `join_lc_payloads` makes of several.
  void decode(const decode_request& from) const { lossy::decode(from); }

 private:
  [[nodiscard]] lc_options options() const { return {priority, value, buckets, floor, max_error, max_relative_l2}; }
};

}  // namespace codecs

/// One payload of several of the same elements, the oldest first: decoding it gives, bit for bit, what decoding one after the other
/// does. Code tables that they name by id are needed still. errc::corrupt when one is malformed, errc::invalid when there are none.
[[nodiscard]] CAIRN_INLINE std::vector<std::byte> join_lc_payloads(
    std::span<const std::span<const std::byte>> payloads);

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/encode/lc.ipp"  // IWYU pragma: keep
#endif
