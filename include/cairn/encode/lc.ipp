// Definitions of lc.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/float_types.hpp"
#include "cairn/encode/blocks.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/encode/lc/block_code.hpp"
#include "cairn/encode/lc/buckets.hpp"
#include "cairn/encode/lc/elements.hpp"
#include "cairn/encode/lc/float_environment.hpp"
#include "cairn/encode/lc/payload.hpp"
#include "cairn/encode/lc/quantize.hpp"
#include "cairn/encode/lc/survey.hpp"
#include "cairn/encode/lossless.hpp"

namespace cairn {
namespace lossy {
namespace detail {

/// Bytes below which a leaf is not worth a payload of its own, and up to which one without loss may well be smaller.
inline constexpr std::size_t least_bytes = 64, small_bytes = std::size_t{64} << 10;

[[nodiscard]] inline bool has_delta(const encode_request& in) noexcept {
  return is_quantizable(in.type) && in.reference.size() == in.values.size() && in.values.size() >= least_bytes &&
         in.values.size() % size_of(in.type) == 0;
}

[[nodiscard]] inline delta_view delta_of(const encode_request& in) noexcept {
  return {in.type, in.values, in.reference};
}

/// The least number of a 16-bit type that is not below `floor`.
template <class Half>
[[nodiscard]] float round_up(float floor) noexcept {
  const Half near(floor);
  const auto up = static_cast<float>(near) >= floor ? near.bits : near.bits + (near.bits >> 15 != 0 ? -1 : 1);
  return static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(up)));
}

[[nodiscard]] inline float floor_of(const std::optional<float>& floor, const encode_request& in) {
  if (!floor) return -std::numeric_limits<float>::infinity();
  const float rounded = in.type == dtype::f32   ? *floor
                        : in.type == dtype::f16 ? round_up<float16>(*floor)
                                                : round_up<bfloat16>(*floor);
  if (!is_finite(rounded))
    fail(errc::invalid, {in.path, ": a floor of a lossy codec is a finite ", cairn::name(in.type)});
  return rounded;
}

/// May a finite element become infinite when a value is added? Half a last bit of the largest element is above these limits.
[[nodiscard]] inline bool may_overflow(dtype type, std::span<const promoted> chosen) noexcept {
  const float limit = type == dtype::f16 ? 8.0F : 0x1p102F;
  return std::any_of(chosen.begin(), chosen.end(), [&](const promoted& p) { return std::abs(p.value) >= limit; });
}

[[nodiscard]] inline bool is_within(const loss& lost, const lc_options& options) noexcept {
  return (!options.max_error || lost.max_error <= *options.max_error) &&
         (!options.max_relative_l2 || lost.relative_l2 <= *options.max_relative_l2);
}

/// Codes the packed symbols into a payload of one step.
inline encoded write_payload(const quantized& leaf, step_header step, const encode_request& in,
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

  encoded result;
  step.code = choose_code(sum, in.known_tables);
  const auto& code = step.code;
  const bool known = in.known_tables != nullptr && in.known_tables->find(code.id) != nullptr;
  if (code.stored == step_code::kind::by_id && !known) result.new_tables.push_back({code.id, code.lengths});

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
                               [&](std::size_t b, std::span<std::byte> to) {
                                 const auto exceptions = leaf.exceptions.empty() ? std::span<const exception>()
                                                                                 : std::span(leaf.exceptions[b]);
                                 return encode_block(packed(b), counts[b], exceptions, item,
                                                     encoder ? &*encoder : nullptr, code.lengths, to);
                               });
  result.relative = true;
  result.lost = leaf.lost();
  return result;
}

/// The payload without loss, where it is smaller than `than`; else nothing, and `out` is as it was.
[[nodiscard]] inline std::optional<encoded> smaller_without_loss(const encode_request& in, std::size_t than,
                                                                 std::span<std::byte> out) {
  std::vector<std::byte> other(codecs::lossless{}.bound(in.type, in.values.size()));
  auto result = codecs::lossless{}.encode(in, other);
  if ((result.codec.empty() ? in.values.size() : result.bytes) > than) return {};
  std::memcpy(out.data(), other.data(), result.bytes);
  return result;
}

/// Memory that is used again by whoever comes next, so that it is not new pages for every block.
class scratch_pool {
 public:
  explicit scratch_pool(std::size_t bytes) : bytes_(bytes) {}

  [[nodiscard]] std::unique_ptr<std::byte[]> take() {
    {
      const std::lock_guard lock(access_);
      if (!free_.empty()) {
        auto memory = std::move(free_.back());
        free_.pop_back();
        return memory;
      }
    }
    return std::make_unique_for_overwrite<std::byte[]>(bytes_);
  }
  void give_back(std::unique_ptr<std::byte[]> memory) {
    const std::lock_guard lock(access_);
    free_.push_back(std::move(memory));
  }

 private:
  std::mutex access_;
  std::size_t bytes_;
  std::vector<std::unique_ptr<std::byte[]>> free_;
};

/// What is wrong with a step; null: nothing, and it is done.
[[nodiscard]] inline const char* decode_step(std::span<const std::byte> bytes, const decode_request& from) {
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
  scratch_pool pool(packed_size(std::min(count, block_elements), step->bits));
  const bool good =
      decode_blocks(blocks_of(count), in.rest(), from.threads, [&](std::size_t b, std::span<const std::byte> block) {
        const default_float_environment guard;
        auto memory = pool.take();
        const std::size_t size = block_size(count, b);
        const std::span packed(memory.get(), packed_size(size, step->bits));
        std::span<const std::byte> exceptions;
        const bool decoded = decode_block(block, size, item, code ? &*code : nullptr, packed, exceptions);
        if (decoded) {
          const auto elements = from.values.subspan(b * block_elements * item, size * item);
          add_symbols(from.type, step->bits, packed.data(), step->table, elements);
          put_exceptions(exceptions, item, elements);
        }
        pool.give_back(std::move(memory));
        return decoded;
      });
  return good ? nullptr : "a block of a quantized payload is malformed";
}

}  // namespace detail

CAIRN_INLINE std::size_t bound(dtype type, std::size_t bytes) {
  const std::size_t without_loss = codecs::lossless{}.bound(type, bytes);
  if (!is_quantizable(type)) return without_loss;
  const std::size_t item = size_of(type), count = bytes / item;
  const std::size_t quantized_bound =
      headers_bound + blocks_bound(blocks_of(count), block_bound(std::min(count, block_elements), item));
  return std::max(without_loss, quantized_bound);
}

CAIRN_INLINE std::shared_ptr<const survey_result> survey_state(const lc_options& options,
                                                               std::span<const encode_request> all) {
  std::vector<delta_view> deltas;
  unsigned threads = 1;
  for (const auto& in : all) {
    if (!detail::has_delta(in)) continue;
    deltas.push_back(detail::delta_of(in));
    threads = in.threads == 0 || threads == 0 ? 0 : std::max(threads, in.threads);
  }
  return std::make_shared<const survey_result>(survey(deltas, options, 7, threads));
}

CAIRN_INLINE encoded encode(const lc_options& options, unsigned bits, std::string_view name,
                            const survey_result* shared, const encode_request& in, std::span<std::byte> out) {
  if (!detail::has_delta(in)) return codecs::lossless{}.encode(in, out);
  const default_float_environment guard;
  const auto delta = detail::delta_of(in);
  const float floor = detail::floor_of(options.floor, in);
  for (; bits <= 3; ++bits) {
    const std::size_t most = (std::size_t{1} << bits) - 1;
    auto known = shared != nullptr ? *shared : survey(std::span(&delta, 1), options, most, in.threads);
    known.chosen.resize(std::min(known.chosen.size(), most));
    sort_by_exponent(known.chosen);
    // Where nothing can go wrong any more, elements are brought up while they are in the cache.
    const bool certain = shared == nullptr && known.all_finite && !detail::may_overflow(in.type, known.chosen) &&
                         !options.max_error && !options.max_relative_l2 && in.values.size() > detail::small_bytes;
    step_header step{bits, known.chosen.size(), make_symbols(known.chosen, floor), {}};
    const auto leaf = certain ? quantize_in_place(delta, in.reference, bits, step.table, in.threads)
                              : quantize_on_trial(delta, bits, step.table, in.threads);
    if (leaf.too_many_exceptions) break;
    if (!detail::is_within(leaf.lost(), options)) continue;
    auto result = detail::write_payload(leaf, step, in, out);
    if (!certain) {
      if (result.bytes > in.values.size() / 4)
        if (const auto better = detail::smaller_without_loss(in, result.bytes, out)) return *better;
      apply(leaf, in.type, bits, step.table, in.reference, in.threads);
    }
    result.codec = name;
    return result;
  }
  return codecs::lossless{}.encode(in, out);
}

CAIRN_INLINE void decode(const decode_request& from) {
  const auto refuse = [&](const char* why) { fail(errc::corrupt, {from.where, ": ", from.path, ": ", why}); };
  if (!is_quantizable(from.type) || from.values.size() % size_of(from.type) != 0)
    refuse("a quantized payload for elements that cannot have one");
  const bool good = for_each_step(from.payload, [&](std::span<const std::byte> step) {
    if (const char* why = detail::decode_step(step, from)) refuse(why);
  });
  if (!good) refuse("a quantized payload is malformed, or of a newer version");
}

}  // namespace lossy

CAIRN_INLINE std::vector<std::byte> join_lc_payloads(std::span<const std::span<const std::byte>> payloads) {
  std::vector<std::span<const std::byte>> steps;
  for (const auto& payload : payloads)
    if (!lossy::for_each_step(payload, [&](std::span<const std::byte> step) { steps.push_back(step); }))
      fail(errc::corrupt, {"a quantized payload to be joined is malformed, or of a newer version"});
  if (steps.empty()) fail(errc::invalid, {"no quantized payloads to be joined"});
  lossy::byte_writer out;
  lossy::put_payload_header(out, steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i + 1 < steps.size()) out.put_number(steps[i].size());
    out.put(steps[i]);
  }
  return out.take();
}

}  // namespace cairn
