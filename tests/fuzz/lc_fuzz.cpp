// SPDX-License-Identifier: MIT
// Hostile bytes as payloads of the lossy codec: they give values, or errc::corrupt, and all memory together is at most
// four times the elements and the payload. Elements made of the input come back as the writer tracks them.

#include "cairn/core/error.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/encode/lossless.hpp"
#include "decode_part.hpp"
#include "live_memory.hpp"
#include "../standard.hpp"

namespace {

void require(bool held) {
  if (!held) std::abort();
}

using bytes = std::vector<std::byte>;
constexpr cairn::dtype types[] = {cairn::dtype::f32, cairn::dtype::bf16, cairn::dtype::f16, cairn::dtype::i32};

/// A table of two symbols under an id that inputs can name.
cairn::code_tables known_tables() {
  cairn::code_lengths lengths{};
  lengths[0] = lengths[85] = 1;
  cairn::code_tables tables;
  tables.add(cairn::detail::make_code_table(lengths));
  tables.add({0, lengths});
  return tables;
}

/// `whole`: what all of the payload decodes to.
void decode_some(cairn::dtype type, const bytes& payload, const cairn::code_tables& tables, const bytes& whole) {
  fuzz::decode_part(cairn::codecs::lc<2>{}, {"file", "leaf", type, payload, {}, 1, &tables, true},
                    bytes(whole.size(), std::byte{0x3C}), whole);
}

void decode_any(cairn::dtype type, std::size_t elements, const bytes& payload) {
  static const auto tables = known_tables();
  bytes values(elements * cairn::size_of(type), std::byte{0x3C});
  const cairn::merge_request::delta delta{"lc2", "file", payload}, twice[] = {delta, delta};
  const fuzz::memory_bound guard(8 * (values.size() + payload.size() + 4096));
  try {
    cairn::codecs::lc<2>{}.decode({"file", "leaf", type, payload, values, 1, &tables, true});
    const auto once = values;
    decode_some(type, payload, tables, once);
    const auto joined =
        cairn::codecs::lc<2>{}
            .merge({.path = "leaf", .type = type, .bytes = std::numeric_limits<std::size_t>::max(), .deltas = twice})
            .value();
    cairn::codecs::lc<3>{}.decode({"file", "leaf", type, payload, values, 1, &tables, true});
    auto both = bytes(values.size(), std::byte{0x3C});
    cairn::codecs::lc<3>{}.decode({"file", "leaf", type, joined, both, 1, &tables, true});
    require(both == values);
    decode_some(type, joined, tables, both);
  } catch (const cairn::error& error) {
    require(error.code() == cairn::errc::corrupt);
  }
}

template <int Bits>
void round_trip(cairn::dtype type, unsigned choice, const bytes& input) {
  const std::size_t item = cairn::size_of(type), half = input.size() / 2 / item * item;
  const bytes real(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(half));
  bytes tracked(input.begin() + static_cast<std::ptrdiff_t>(half),
                input.begin() + static_cast<std::ptrdiff_t>(2 * half));
  auto values = tracked;
  cairn::codecs::lc<Bits> codec;
  if (choice % 2 != 0) codec.priority = cairn::promotion::energy;
  if (choice / 4 % 2 != 0) codec.delta = cairn::delta_kind::ratio;
  if (choice / 8 % 2 != 0) codec.max_error = 1.0;
  if (choice / 16 % 2 != 0) codec.max_delta_l2 = 0.5;
  bytes payload(codec.bound(type, half));
  const auto made = codec.encode({"leaf", type, real, tracked, 1, nullptr}, payload);
  require(made.bytes <= payload.size());
  payload.resize(made.bytes);
  if (made.codec.empty()) return;
  if (!made.lost) {
    require(tracked == values);
    cairn::codecs::lossless{}.decode({"file", "leaf", type, payload, values, 1, nullptr, made.relative});
    require(values == real);
    return;
  }
  require(!codec.max_error || made.lost->max_error <= *codec.max_error);
  require(!codec.max_delta_l2 || made.lost->delta_l2 <= *codec.max_delta_l2);
  codec.decode({"file", "leaf", type, payload, values, 1, nullptr, true});
  require(values == tracked);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  if (size < 4) return 0;
  const auto type = types[input[0] % 4];
  const std::size_t elements = (input[1] | std::size_t{input[2]} << 8) % 5000;
  const auto* begin = reinterpret_cast<const std::byte*>(input) + 3;
  const bytes rest(begin, begin + size - 3);
  if (input[0] / 4 % 2 == 0) {
    decode_any(type, elements, rest);
  } else {
    round_trip<2>(type, input[1], rest);
    round_trip<3>(type, input[1], rest);
  }
  return 0;
}

/// Seeds made by the code itself, so that they always fit the format: the first mutations begin with valid payloads.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* input, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<bytes> seeds = [] {
    std::vector<bytes> made;
    for (std::size_t t = 0; t < 3; ++t)
      for (const std::size_t elements : {100U, 1000U, 4500U}) {
        const auto type = types[t];
        bytes real(elements * cairn::size_of(type)), tracked(real.size());
        for (std::size_t i = 0; i < real.size(); ++i) {
          real[i] = static_cast<std::byte>(i * i * 31 >> 4 & 0x3F);
          tracked[i] = static_cast<std::byte>(i * 7 & 0x3F);
        }
        for (std::size_t i = 0; i < 2 && t == 0; ++i) std::memset(real.data() + 40 * i, 0xFF, 4);  // NaN
        bytes payload(cairn::codecs::lc<3>{}.bound(type, real.size()));
        const auto done = cairn::codecs::lc<3>{}.encode({"leaf", type, real, tracked}, payload);
        bytes whole{static_cast<std::byte>(t), static_cast<std::byte>(elements & 255),
                    static_cast<std::byte>(elements >> 8)};
        whole.insert(whole.end(), payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(done.bytes));
        made.push_back(whole);
        bytes trip{static_cast<std::byte>(t + 4), std::byte{0}, std::byte{0}};
        trip.insert(trip.end(), real.begin(), real.end());
        trip.insert(trip.end(), tracked.begin(), tracked.end());
        made.push_back(trip);
      }
    return made;
  }();
  if (seed % 64 == 0) {
    const auto& chosen = seeds[seed / 64 % seeds.size()];
    if (chosen.size() <= most) {
      std::memcpy(input, chosen.data(), chosen.size());
      size = chosen.size();
      if (seed / 4096 % 2 == 0) return size;
    }
  }
  return LLVMFuzzerMutate(input, size, most);
}
