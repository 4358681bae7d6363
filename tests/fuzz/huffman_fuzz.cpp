// SPDX-License-Identifier: MIT
// Hostile bytes as a block, as code lengths with streams after them, and as what is to be coded: decoding stays
// within its memory and ends, and what it accepts or makes comes back.

#include "cairn/encode/huffman/block.hpp"
#include "../standard.hpp"

namespace {

using namespace cairn::detail::huffman;

void require(bool held) {
  if (!held) std::abort();
}

/// Memory of the very size that is asked for: what goes beyond it is seen.
struct exact {
  explicit exact(std::size_t size) : memory(std::make_unique<std::byte[]>(size)), bytes(memory.get(), size) {}
  explicit exact(std::span<const std::byte> from) : exact(from.size()) {
    if (!from.empty()) std::memcpy(bytes.data(), from.data(), from.size());
  }
  std::unique_ptr<std::byte[]> memory;
  std::span<std::byte> bytes;
};

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

void round_trip(std::span<const std::byte> input) {
  const exact in(input), out(block_bound(input.size())), back(input.size());
  const auto size = encode_block(in.bytes, out.bytes);
  require(size <= input.size() + 16);
  const exact block(out.bytes.first(size));
  require(decode_block(block.bytes, back.bytes));
  require(equal(back.bytes, in.bytes));
}

void decode_any_block(std::span<const std::byte> input, std::size_t size) {
  const exact in(input), out(size);
  if (decode_block(in.bytes, out.bytes)) round_trip(out.bytes);
}

void decode_any_streams(std::span<const std::byte> input, std::size_t size) {
  const exact in(input), out(size);
  cairn::code_lengths lengths;
  const auto table_bytes = read_code_lengths(in.bytes, lengths);
  if (table_bytes == 0) return;
  require(is_complete(lengths));
  const exact text(code_lengths_bound);
  cairn::code_lengths again;
  const auto written = write_code_lengths(lengths, text.bytes);
  require(read_code_lengths(text.bytes.first(written), again) == written && again == lengths);

  // Codes are the only ones for their bytes.
  const exact codes(in.bytes.subspan(table_bytes));
  if (!decoder(lengths).decode(codes.bytes, out.bytes)) return;
  encoder code(lengths);
  if (size % 2 == 0) code.prepare_pairs();
  const exact coded(coded_bits(count_bytes(out.bytes), lengths) / 8 + encode_slack);
  require(equal(coded.bytes.first(code.encode(out.bytes, coded.bytes)), codes.bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 3) return 0;
  const std::span input(reinterpret_cast<const std::byte*>(bytes) + 3, size - 3);
  const std::size_t asked = (bytes[1] | std::size_t{bytes[2]} << 8) % 5000;
  switch (bytes[0] % 3) {
    case 0:
      round_trip(input);
      break;
    case 1:
      decode_any_block(input, asked);
      break;
    default:
      decode_any_streams(input, asked);
  }
  return 0;
}

/// One input in 64 is a block made from another, with the size that fits: the first mutations begin with what is valid.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 64 == 0) {
    std::vector<std::byte> in(seed / 64 % 1500 + 1);
    std::uint64_t state = seed;
    for (auto& byte : in) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      byte = static_cast<std::byte>((state >> 56) & (state >> 48) & (state >> (seed % 2 == 0 ? 40 : 56)));
    }
    std::vector<std::byte> block(block_bound(in.size()));
    block.resize(encode_block(in, block));
    const bool streams_only = seed / 4096 % 2 == 0;  // code lengths and streams, without the kind
    if (block.size() + 2 + !streams_only <= most) {
      bytes[0] = streams_only ? 2 : 1;
      bytes[1] = static_cast<std::uint8_t>(in.size());
      bytes[2] = static_cast<std::uint8_t>(in.size() >> 8);
      std::memcpy(bytes + 3, block.data() + streams_only, block.size() - streams_only);
      size = 3 + block.size() - streams_only;
    }
  }
  return LLVMFuzzerMutate(bytes, size, most);
}
