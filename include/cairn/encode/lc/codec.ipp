// SPDX-License-Identifier: MIT
// Definitions of codec.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cairn/core/error.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/core/float_types.hpp"
#include "cairn/encode/blocks.hpp"
#include "cairn/encode/lc/block_code.hpp"
#include "cairn/encode/lc/buckets.hpp"
#include "cairn/encode/lc/codec.hpp"
#include "cairn/encode/lc/elements.hpp"
#include "cairn/encode/lc/payload.hpp"
#include "cairn/encode/lc/quantize.hpp"
#include "cairn/encode/lc/survey.hpp"
#include "cairn/encode/lossless.hpp"

namespace cairn::inline v0_1::detail::lc {

/// A leaf of fewer bytes is not quantized; up to `small_bytes`, encoding without loss may be smaller, and is tried.
inline constexpr std::size_t least_bytes = 64, small_bytes = std::size_t{64} << 10;

[[nodiscard]] inline bool has_delta(const encode_request& in) noexcept {
  return is_quantizable(in.type) && in.reference.size() == in.values.size() && in.values.size() >= least_bytes &&
         in.values.size() % size_of(in.type) == 0;
}

[[nodiscard]] inline delta_view delta_of(const encode_request& in, delta_kind kind) noexcept {
  return {in.type, in.values, in.reference, kind};
}

/// Whether adding a value may make a finite element infinite. Smaller values than these limits are below half a last
/// bit of the largest element.
[[nodiscard]] inline bool may_overflow(dtype type, std::span<const promoted> chosen) noexcept {
  const float limit = type == dtype::f16 ? 8.0F : 0x1p102F;
  return std::any_of(chosen.begin(), chosen.end(), [&](const promoted& p) { return std::abs(p.value) >= limit; });
}

[[nodiscard]] inline bool is_within(const loss& lost, const options& how) noexcept {
  return (!how.max_error || lost.max_error <= *how.max_error) &&
         (!how.max_delta_l2 || lost.delta_l2 <= *how.max_delta_l2);
}

/// Writes a payload of one step.
inline encode_result write_payload(const quantized& leaf, step_header step, const encode_request& in,
                                   std::span<std::byte> out) {
  const std::size_t item = size_of(in.type), count = in.values.size() / item, blocks = blocks_of(count);
  const auto packed = [&](std::size_t block) {
    return std::span(leaf.packed.get() + packed_size(block * block_elements, step.bits),
                     packed_size(block_size(count, block), step.bits));
  };
  std::vector<huffman::byte_counts> counts(blocks);
  parallel_for(blocks, in.threads, [&](std::size_t b, unsigned) { counts[b] = huffman::count_bytes(packed(b)); });
  huffman::byte_counts sum{};
  for (const auto& each : counts)
    if (!is_repeated(each)) huffman::add(sum, each);

  encode_result result;
  step.code = choose_code(sum, in.known_tables);
  const auto& code = step.code;
  if (code.stored == step_code::kind::by_id) result.tables.push_back({code.id, code.lengths});

  byte_writer headers;
  put_payload_header(headers, 1);
  put_step_header(headers, step);
  std::memcpy(out.data(), headers.bytes().data(), headers.bytes().size());
  std::optional<huffman::encoder> encoder;
  if (code.stored != step_code::kind::none) {
    encoder.emplace(code.lengths);
    if (encoder->is_worth_pairs(packed_size(count, step.bits))) encoder->prepare_pairs();
  }
  const std::size_t room = block_bound(std::min(count, block_elements), item);
  result.bytes = headers.bytes().size() +
                 encode_blocks(blocks, room, in.threads, out.subspan(headers.bytes().size()),
                               [&](std::size_t b, unsigned, std::span<std::byte> to) {
                                 const auto exceptions = leaf.exceptions.empty() ? std::span<const exception>()
                                                                                 : std::span(leaf.exceptions[b]);
                                 return encode_block(packed(b), counts[b], exceptions, item,
                                                     encoder ? &*encoder : nullptr, code.lengths, to);
                               });
  result.relative = true;
  result.lost = leaf.lost();
  return result;
}

/// Encodes without loss, if that takes at most `than` bytes; else returns nothing and does not change `out`.
[[nodiscard]] inline std::optional<encode_result> smaller_without_loss(const encode_request& in, std::size_t than,
                                                                       std::span<std::byte> out) {
  std::vector<std::byte> other(codecs::lossless{}.bound(in.type, in.values.size()));
  auto result = codecs::lossless{}.encode(in, other);
  if ((result.codec.empty() ? in.values.size() : result.bytes) > than) return {};
  std::memcpy(out.data(), other.data(), result.bytes);
  return result;
}

/// Decodes block number `b` onto its elements; `memory` has room for its packed symbols. False when it is malformed.
[[nodiscard]] inline bool decode_block_onto(const decode_request& from, const step_header& step,
                                            const huffman::decoder* code, std::size_t b,
                                            std::span<const std::byte> block, std::byte* memory) {
  const default_float_environment guard;
  const std::size_t item = size_of(from.type), size = block_size(from.values.size() / item, b);
  const std::span packed(memory, packed_size(size, step.bits));
  std::span<const std::byte> exceptions;
  if (!decode_block(block, size, item, code, packed, exceptions)) return false;
  const auto elements = from.values.subspan(b * block_elements * item, size * item);
  add_symbols(from.type, step.delta, step.bits, packed.data(), step.table, elements);
  put_exceptions(exceptions, item, elements);
  return true;
}

/// Decodes a step onto the elements. Returns what is wrong with it, or null.
[[nodiscard]] inline const char* decode_step(std::span<const std::byte> bytes, const decode_request& from) {
  from.need(bytes.first(std::min(bytes.size(), headers_bound)));
  byte_reader in(bytes);
  auto step = take_step_header(in);
  if (!step) return "a step of a quantized payload is malformed";
  if (step->code.stored == step_code::kind::by_id) {
    const auto* known = from.known_tables != nullptr ? from.known_tables->find(step->code.id) : nullptr;
    if (known == nullptr) return "a quantized payload names a code table that is not there";
    step->code.lengths = *known;
  }
  std::optional<huffman::decoder> code;
  if (step->code.stored != step_code::kind::none) code.emplace(step->code.lengths);

  const std::size_t item = size_of(from.type), count = from.values.size() / item;
  const std::size_t room = packed_size(std::min(count, block_elements), step->bits);
  std::vector<std::unique_ptr<std::byte[]>> memories(std::min<std::size_t>(threads_of(from.threads), blocks_of(count)));
  const auto decode = [&](std::size_t b, unsigned worker, std::span<const std::byte> block) {
    auto& memory = memories[worker];
    if (!memory) memory = std::make_unique_for_overwrite<std::byte[]>(room);
    return decode_block_onto(from, *step, code ? &*code : nullptr, b, block, memory.get());
  };
  const bool good =
      decode_blocks(blocks_of(count), wanted_blocks::of(from.wanted, count, block_elements), in.rest(), from, decode);
  return good ? nullptr : "a block of a quantized payload is malformed";
}

/// How a leaf is to be quantized.
struct quantization {
  step_header step;
  bool in_place = false;  ///< update the reference in the same pass: the result cannot be rejected
};

/// Chooses the buckets that get a symbol, and whether to quantize in place.
[[nodiscard]] inline quantization plan_quantization(const options& how, unsigned bits, const encode_request& in) {
  const std::size_t most = (std::size_t{1} << bits) - 1;
  const auto delta = delta_of(in, how.delta);
  auto found = survey(delta, how, most, in.threads);
  sort_by_exponent(found.chosen);
  const bool is_ratio = how.delta == delta_kind::ratio;
  for (auto& each : found.chosen)
    if (is_ratio) each.value = std::nearbyint(each.value);
  const bool in_place = !is_ratio && found.all_finite && !may_overflow(in.type, found.chosen) && !how.has_bound() &&
                        in.values.size() > small_bytes;
  return {{bits, how.delta, found.chosen.size(), make_symbols(found.chosen), {}}, in_place};
}

[[nodiscard]] inline quantized quantize(const options& how, const quantization& plan, const encode_request& in) {
  const auto delta = delta_of(in, how.delta);
  if (plan.in_place) return quantize_in_place(delta, in.reference, plan.step.bits, plan.step.table, in.threads);
  return quantize_on_trial(delta, plan.step.bits, plan.step.table, in.threads, how.max_error.value_or(infinite()));
}

/// Writes the payload and updates the reference; or encodes without loss, where that is smaller.
inline encode_result commit(const quantized& leaf, const quantization& plan, std::string_view name,
                            const encode_request& in, std::span<std::byte> out) {
  auto result = write_payload(leaf, plan.step, in, out);
  if (!plan.in_place) {
    if (result.bytes > in.values.size() / 4)
      if (const auto better = smaller_without_loss(in, result.bytes, out)) return *better;
    apply(leaf, in.type, plan.step.delta, plan.step.bits, plan.step.table, in.reference, in.threads);
  }
  result.codec = name;
  return result;
}

std::size_t bound(dtype type, std::size_t bytes) {
  const std::size_t without_loss = codecs::lossless{}.bound(type, bytes);
  if (!is_quantizable(type)) return without_loss;
  const std::size_t item = size_of(type), count = bytes / item;
  const std::size_t quantized_bound =
      headers_bound + blocks_bound(blocks_of(count), block_bound(std::min(count, block_elements), item));
  return std::max(without_loss, quantized_bound);
}

/// Nullopt if a bound would be exceeded, or too many elements would have to be stored exactly.
[[nodiscard]] inline std::optional<encode_result> encode_within(const options& how, unsigned bits,
                                                                std::string_view name, const encode_request& in,
                                                                std::span<std::byte> out) {
  const auto plan = plan_quantization(how, bits, in);
  const auto leaf = quantize(how, plan, in);
  if (leaf.too_many_exceptions || !is_within(leaf.lost(), how)) return std::nullopt;
  return commit(leaf, plan, name, in, out);
}

encode_result encode(const options& how, unsigned bits, std::string_view name, const encode_request& in,
                     std::span<std::byte> out) {
  for (const auto& each : {how.max_error, how.max_delta_l2})
    if (each && (is_nan(*each) || *each < 0))
      fail(errc::invalid, {in.path, ": a bound of codec ", name, " is negative or NaN"});
  if (!has_delta(in)) return codecs::lossless{}.encode(in, out);
  const default_float_environment guard;
  auto by_energy = how;  // usually takes more bytes, and has a smaller L2 error
  by_energy.priority = promotion::energy;
  const bool tries_energy = how.has_bound() && how.priority != promotion::energy;
  for (; bits <= 3; ++bits) {
    if (const auto done = encode_within(how, bits, name, in, out)) return *done;
    if (!tries_energy) continue;
    if (const auto done = encode_within(by_energy, bits, name, in, out)) return *done;
  }
  return codecs::lossless{}.encode(in, out);
}

void decode(const decode_request& from) {
  const auto corrupt = [&](const char* why) { fail(errc::corrupt, {from.where, ": ", from.path, ": ", why}); };
  if (!is_quantizable(from.type) || from.values.size() % size_of(from.type) != 0)
    corrupt("a quantized payload for elements that cannot have one");
  if (!from.relative) corrupt("a quantized payload needs the parent's elements, but the file says that it does not");
  const auto need = [&](std::span<const std::byte> part) { from.need(part); };
  const bool good = for_each_step(from.payload, need, [&](std::span<const std::byte> step) {
    if (const char* why = decode_step(step, from)) corrupt(why);
  });
  if (!good) corrupt("a quantized payload is malformed, or of a newer version");
}

std::optional<std::vector<std::byte>> merge(const merge_request& in) {
  std::vector<std::span<const std::byte>> steps;
  for (const auto& delta : in.deltas) {
    if (delta.codec != "lc2" && delta.codec != "lc3") return std::nullopt;
    if (!for_each_step(
            delta.payload, [](std::span<const std::byte>) {},
            [&](std::span<const std::byte> step) { steps.push_back(step); }))
      fail(errc::corrupt, {delta.where, ": ", in.path, ": a quantized payload is malformed, or of a newer version"});
  }
  if (steps.empty()) return std::nullopt;
  byte_writer out;
  put_payload_header(out, steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i + 1 < steps.size()) out.put_number(steps[i].size());
    out.put(steps[i]);
  }
  if (out.bytes().size() >= in.bytes) return std::nullopt;
  return out.take();
}

}  // namespace cairn::inline v0_1::detail::lc
