// SPDX-License-Identifier: MIT
// Hostile bytes as a payload of the lossless codec, for a few elements of any type: it fills them or throws
// errc::corrupt, and allocates no more than a few times their size. And any elements: they come back bit for bit.

#include "cairn/core/error.hpp"
#include "cairn/encode/lossless.hpp"
#include "decode_part.hpp"
#include "live_memory.hpp"
#include "../standard.hpp"

namespace {

using bytes = std::vector<std::byte>;

void require(bool held) {
  if (!held) std::abort();
}

/// What the first bytes of the input choose.
struct choices {
  static constexpr std::size_t size = 5;
  static constexpr std::size_t most_elements = 20'000;

  explicit choices(const std::uint8_t* input)
      : type(static_cast<cairn::dtype>(input[0] % cairn::dtype_count)),
        count((input[1] | std::size_t{input[2]} << 8) % most_elements),
        round_trip(input[3] % 4 == 0),
        with_reference(input[3] / 4 % 2 == 0),
        threads(1 + input[4] % 2) {}

  cairn::dtype type;
  std::size_t count;
  bool round_trip, with_reference;
  unsigned threads;
};

/// `size` bytes, the given ones again and again, changed a little every time.
bytes repeated(const bytes& given, std::size_t size) {
  bytes made(size);
  for (std::size_t i = 0; i < size && !given.empty(); ++i) {
    const std::size_t times = i / given.size();
    made[i] = given[i % given.size()] ^ (times % 3 == 2 ? static_cast<std::byte>(times) : std::byte{});
  }
  return made;
}

cairn::decode_request request_for(const choices& chosen, std::span<const std::byte> payload,
                                  std::span<std::byte> values) {
  return {.where = "file",
          .path = "path",
          .type = chosen.type,
          .payload = payload,
          .values = values,
          .threads = chosen.threads,
          .relative = payload.size() > 1 && payload[1] == std::byte{1}};
}

void decode(const choices& chosen, std::span<const std::byte> payload, std::span<std::byte> values) {
  cairn::codecs::lossless{}.decode(request_for(chosen, payload, values));
}

void read_hostile(const choices& chosen, const bytes& payload) {
  bytes values(chosen.count * cairn::size_of(chosen.type));
  const auto before = values;
  try {
    const fuzz::memory_bound guard(16384 + 4 * values.size());
    decode(chosen, payload, values);
  } catch (const cairn::error& error) {
    require(error.code() == cairn::errc::corrupt);
    require(std::strstr(error.what(), "file: \"path\"") != nullptr);
    values.clear();
  }
  fuzz::decode_part(cairn::codecs::lossless{}, request_for(chosen, payload, {}), before, values);
}

void come_back(const choices& chosen, const bytes& given) {
  const auto values = repeated(given, chosen.count * cairn::size_of(chosen.type));
  bytes reference;
  if (chosen.with_reference) {
    reference = values;
    for (std::size_t i = 0; i < reference.size(); i += 7) reference[i] ^= static_cast<std::byte>(i);
  }
  const cairn::codecs::lossless codec{.xor_parent = chosen.with_reference};
  bytes out(codec.bound(chosen.type, values.size()));
  const auto done = codec.encode(
      {.path = "path", .type = chosen.type, .values = values, .reference = reference, .threads = chosen.threads}, out);
  require(done.bytes <= out.size());
  if (done.codec.empty()) return;
  out.resize(done.bytes);
  auto back = done.relative ? reference : bytes(values.size(), std::byte{0x5A});
  decode(chosen, out, back);
  require(back == values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  if (size < choices::size) return 0;
  const choices chosen(input);
  const auto* const rest = reinterpret_cast<const std::byte*>(input) + choices::size;
  const bytes given(rest, rest + (size - choices::size));
  if (chosen.round_trip)
    come_back(chosen, given);
  else
    read_hostile(chosen, given);
  return 0;
}

/// Seeds made by the codec itself, so that they always fit the format: the first mutations begin with valid payloads.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* input, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* input, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<bytes> seeds = [] {
    std::vector<bytes> made;
    for (std::size_t type = 0; type < cairn::dtype_count; ++type)
      for (const std::size_t count : {300U, 5000U})
        for (const unsigned zeros : {0U, 3U}) {
          std::uint8_t opening[choices::size] = {static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(count),
                                                 static_cast<std::uint8_t>(count >> 8), 1, 0};
          const choices chosen(opening);
          const std::size_t width = cairn::size_of(chosen.type);
          bytes values(count * width), out(cairn::codecs::lossless{}.bound(chosen.type, values.size()));
          for (std::size_t i = 0; i < values.size(); ++i)
            if (i / width % 5 >= zeros) values[i] = static_cast<std::byte>((i * i >> 3) % (i % width == 0 ? 256 : 5));
          const auto done = cairn::codecs::lossless{}.encode({.path = "", .type = chosen.type, .values = values}, out);
          bytes seed_bytes(reinterpret_cast<std::byte*>(opening),
                           reinterpret_cast<std::byte*>(opening) + sizeof opening);
          seed_bytes.insert(seed_bytes.end(), out.begin(), out.begin() + static_cast<long>(done.bytes));
          made.push_back(std::move(seed_bytes));
        }
    return made;
  }();
  if (seed % 16 == 0) {
    const auto& chosen = seeds[seed / 16 % seeds.size()];
    if (chosen.size() <= most) {
      std::memcpy(input, chosen.data(), chosen.size());
      size = chosen.size();
    }
  }
  return LLVMFuzzerMutate(input, size, most);
}
