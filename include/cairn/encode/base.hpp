// SPDX-License-Identifier: MIT
// The contract of encode/: what a codec takes and gives, and any_codec. A codec turns the elements of a piece into
// fewer bytes, and back.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/encoding.hpp"

namespace cairn::inline v0_1 {

/// Bits of the code of each byte value, at most 12; 0: the value has no code.
using code_lengths = std::array<std::uint8_t, 256>;

/// A table and its id: the XXH3-64 of its lengths.
struct code_table {
  std::uint64_t id = 0;    ///< the name by which payloads refer to it
  code_lengths lengths{};  ///< by byte value

  friend bool operator==(const code_table&, const code_table&) = default;
};

class code_tables;  // code_tables.hpp

/// Elements to be encoded: those of a piece.
struct encode_request {
  std::string_view path;              ///< of the leaf
  dtype type{};                       ///< of the elements
  std::span<const std::byte> values;  ///< row-major, aligned for their type
  /// The elements that a reader restores from the parent checkpoint, aligned for their type; empty if there is no
  /// parent or it has others at this path. A lossy codec sets them to what `decode` will give; others change nothing.
  std::span<std::byte> reference{};
  unsigned threads = 1;                       ///< to encode on: at least 1
  const code_tables* known_tables = nullptr;  ///< code tables of earlier checkpoints of the chain; may be null
};

/// What `encode` did.
struct encode_result {
  /// The codec that decodes it; empty: encoding does not pay, and the elements are stored as they are.
  std::string codec{};
  std::size_t bytes = 0;             ///< written to the output
  bool relative = false;             ///< decoding starts from the elements of the parent checkpoint
  std::optional<loss> lost{};        ///< of a lossy codec: decoded against real
  std::vector<code_table> tables{};  ///< that the payload names by id, known ones too: to be stored beside it
};

/// Consecutive elements: [first, last).
struct element_range {
  std::uint64_t first = 0;                 ///< the number of the first one, from 0
  std::uint64_t last = ~std::uint64_t{0};  ///< the number after that of the last one; may exceed the number of elements
};

/// A payload to be decoded.
struct decode_request {
  std::string_view where;              ///< the file, for messages
  std::string_view path;               ///< the leaf, for messages
  dtype type{};                        ///< of the elements
  std::span<const std::byte> payload;  ///< what `encode` wrote, as the file has it: it may be damaged
  /// The elements to be filled, aligned for their type. For a relative payload they hold the parent's elements.
  std::span<std::byte> values;
  unsigned threads = 1;                       ///< to decode on: at least 1
  const code_tables* known_tables = nullptr;  ///< at least those that the payload names; may be null
  bool relative = false;  ///< what the file says of the payload: one that says something else of itself is corrupt
  /// The elements that are wanted. A `ranged_codec` may leave any bits in the others; other codecs decode all.
  element_range wanted{};
  /// Only for a `ranged_codec`; null where all of `payload` is in memory: reads bytes [begin, end) into their place.
  const std::function<void(std::size_t begin, std::size_t end)>* read = nullptr;

  /// Has `part` of the payload in memory. A `ranged_codec` calls it before it reads these bytes, in `decode`'s thread.
  void need(std::span<const std::byte> part) const {
    if (read == nullptr || part.empty()) return;
    const auto begin = static_cast<std::size_t>(part.data() - payload.data());
    (*read)(begin, begin + part.size());
  }
};

/// Payloads to be merged: of the same elements in consecutive checkpoints, all relative.
struct merge_request {
  /// One of the payloads.
  struct delta {
    std::string_view codec;              ///< its name: not always that of the codec that merges
    std::string_view where;              ///< the file, for messages
    std::span<const std::byte> payload;  ///< what that codec's `encode` wrote, as the file has it
  };

  std::string_view path;                      ///< the leaf, for messages
  dtype type{};                               ///< of the elements
  std::size_t bytes = 0;                      ///< of the elements
  std::span<const delta> deltas{};            ///< at least one, the oldest first
  unsigned threads = 1;                       ///< to merge on: at least 1
  const code_tables* known_tables = nullptr;  ///< those of the checkpoint and its ancestors; may be null
};

/// Encodes and decodes pieces. Requirements:
/// - `encode` writes at most `bound(type, bytes of elements)` bytes;
/// - without `lost`, decode(encode(x)) == x, bit for bit;
/// - with `lost`, `decode` of the payload over the parent's elements gives, bit for bit and on every machine, what
///   `encode` left in `reference`;
/// - the payload depends on the request alone, and not on its `threads`;
/// - `decode` of any bytes writes nothing but `values`, allocates at most a few times their size, and terminates: it
///   succeeds, or throws errc::corrupt, naming `where` and `path`.
template <class Codec>
concept codec = std::copy_constructible<Codec> && requires(const Codec& self, const encode_request& in,
                                                           std::span<std::byte> out, const decode_request& from) {
  /// The name that files give it.
  { self.name() } -> std::convertible_to<std::string>;
  /// Whether it uses a reference, which costs as much memory as the leaf.
  { self.uses_parent() } -> std::convertible_to<bool>;
  { self.bound(in.type, std::size_t{}) } -> std::convertible_to<std::size_t>;
  { self.encode(in, out) } -> std::convertible_to<encode_result>;
  self.decode(from);
};

/// A codec that can encode in place: `values` are then the last bytes of `out`, which has `bound` bytes. They are
/// overwritten, but restored where encoding does not pay.
template <class Codec>
concept in_place_codec = codec<Codec> && requires(const Codec& self) {
  { self.encodes_in_place() } -> std::convertible_to<bool>;
};

/// A codec that can encode memory which other threads write meanwhile: the payload decodes to values that the elements
/// had during the call. Other codecs get a copy of such memory, and so do all that use a reference.
template <class Codec>
concept live_codec = codec<Codec> && requires(const Codec& self) {
  { self.encodes_live() } -> std::convertible_to<bool>;
};

/// A codec that decodes some elements of a payload, see `decode_request::wanted`, and reads only the bytes that it
/// needs for them. Requirement: an element depends on the payload and, where that is relative, on the same element of
/// the parent, but on no other element.
template <class Codec>
concept ranged_codec = codec<Codec> && requires(const Codec& self) {
  { self.decodes_ranges() } -> std::convertible_to<bool>;
};

/// A codec that makes one payload of several. Requirements:
/// - decoding the merged payload gives, bit for bit, what decoding the deltas in order gives; it is relative too;
/// - it names no code tables but those that are known;
/// - `merge` returns nothing where it does not know a delta's codec, or its payload would not be smaller than the
///   elements: they are then stored whole;
/// - a malformed delta: errc::corrupt, naming `where` and `path`.
/// Deltas of a codec that is not mergeable are stored whole when they are merged.
template <class Codec>
concept mergeable_codec = codec<Codec> && requires(const Codec& self, const merge_request& in) {
  { self.merge(in) } -> std::convertible_to<std::optional<std::vector<std::byte>>>;
};

/// Any codec, chosen at run time. Copies share it.
class any_codec {
 public:
  template <class Codec>
  requires(!std::same_as<std::remove_cvref_t<Codec>, any_codec> && codec<std::remove_cvref_t<Codec>>)
  any_codec(Codec&& chosen)  // NOLINT: a codec converts to any_codec implicitly
      : self_(std::make_shared<model<std::remove_cvref_t<Codec>>>(std::forward<Codec>(chosen))) {}

  [[nodiscard]] std::string name() const { return self_->name(); }
  [[nodiscard]] bool uses_parent() const { return self_->uses_parent(); }
  [[nodiscard]] bool encodes_in_place() const { return self_->encodes_in_place(); }
  [[nodiscard]] bool encodes_live() const { return self_->encodes_live(); }
  [[nodiscard]] bool decodes_ranges() const { return self_->decodes_ranges(); }
  [[nodiscard]] std::size_t bound(dtype type, std::size_t bytes) const { return self_->bound(type, bytes); }
  [[nodiscard]] encode_result encode(const encode_request& in, std::span<std::byte> out) const {
    return self_->encode(in, out);
  }
  void decode(const decode_request& from) const { self_->decode(from); }
  /// Nothing for a codec that is not mergeable.
  [[nodiscard]] std::optional<std::vector<std::byte>> merge(const merge_request& in) const { return self_->merge(in); }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual std::string name() const = 0;
    virtual bool uses_parent() const = 0;
    virtual bool encodes_in_place() const = 0;
    virtual bool encodes_live() const = 0;
    virtual bool decodes_ranges() const = 0;
    virtual std::size_t bound(dtype, std::size_t) const = 0;
    virtual encode_result encode(const encode_request&, std::span<std::byte>) const = 0;
    virtual void decode(const decode_request&) const = 0;
    virtual std::optional<std::vector<std::byte>> merge(const merge_request&) const = 0;
  };

  template <class Codec>
  struct model final : interface {
    template <class C>
    explicit model(C&& chosen) : held(std::forward<C>(chosen)) {}
    std::string name() const override { return held.name(); }
    bool uses_parent() const override { return held.uses_parent(); }
    bool encodes_in_place() const override {
      if constexpr (in_place_codec<Codec>)
        return held.encodes_in_place();
      else
        return false;
    }
    bool encodes_live() const override {
      if constexpr (live_codec<Codec>)
        return held.encodes_live();
      else
        return false;
    }
    bool decodes_ranges() const override {
      if constexpr (ranged_codec<Codec>)
        return held.decodes_ranges();
      else
        return false;
    }
    std::size_t bound(dtype type, std::size_t bytes) const override { return held.bound(type, bytes); }
    encode_result encode(const encode_request& in, std::span<std::byte> out) const override {
      return held.encode(in, out);
    }
    void decode(const decode_request& from) const override { held.decode(from); }
    std::optional<std::vector<std::byte>> merge(const merge_request& in) const override {
      if constexpr (mergeable_codec<Codec>)
        return held.merge(in);
      else
        return std::nullopt;
    }
    Codec held;
  };

  std::shared_ptr<const interface> self_;
};

}  // namespace cairn::inline v0_1
