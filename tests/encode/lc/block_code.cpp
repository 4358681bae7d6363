// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/block_code.hpp"
#include "cairn/encode/code_table_text.hpp"

#include <random>

#include "catch.hpp"

using namespace cairn;
using namespace cairn::detail;
using namespace cairn::detail::lc;

namespace {

std::vector<std::byte> random_bytes(std::size_t n, unsigned kinds, std::mt19937& random) {
  std::vector<std::byte> bytes(n);
  for (auto& b : bytes) b = static_cast<std::byte>(std::min(random() % kinds, random() % kinds));
  return bytes;
}

}  // namespace

TEST_CASE("lc/block_code: blocks of every kind come back with their exceptions") {
  std::mt19937 random(1);
  for (const std::size_t item : {2U, 4U})
    for (const unsigned kinds : {1U, 2U, 40U, 256U})
      for (const std::size_t number : {0U, 1U, 15U}) {
        const std::size_t elements = 1000;
        auto packed = random_bytes(packed_size(elements, 3), kinds, random);
        const auto counts = huffman::count_bytes(packed);
        std::vector<exception> exceptions(number);
        for (std::size_t i = 0; i < number; ++i) exceptions[i] = {static_cast<std::uint32_t>(i * 66), 0x7FC0};
        auto code = choose_code(counts, nullptr);
        if (kinds == 40) {  // a code that lacks rare bytes
          auto fewer = counts;
          for (auto& count : fewer) count = count < 5 ? 0 : count;
          code.lengths = huffman::find_code_lengths(fewer);
        }
        const auto packed_before = packed;
        CHECK((code.stored == step_code::kind::none) == (kinds == 1 || kinds == 256));
        const huffman::encoder encoder(code.lengths);
        std::vector<std::byte> out(block_bound(elements, item));
        out.resize(encode_block(packed, counts, exceptions, item,
                                code.stored == step_code::kind::none ? nullptr : &encoder, code.lengths, out));
        const huffman::decoder decoder(code.lengths);
        std::vector<std::byte> read(packed.size()), values(elements * item);
        std::span<const std::byte> stored;
        REQUIRE(decode_block(out, elements, item, &decoder, read, stored));
        CHECK(packed == packed_before);
        CHECK(read == packed);
        put_exceptions(stored, item, values);
        for (std::size_t i = 0; i < elements; ++i) {
          std::uint32_t bits = 0;
          std::memcpy(&bits, values.data() + i * item, item);
          CHECK(bits == (i % 66 == 0 && i / 66 < number ? 0x7FC0U : 0U));
        }
        CHECK(!decode_block(std::span(out).first(1), elements, item, &decoder, read, stored));
        if (number > 1) CHECK(!decode_block(out, 66, item, &decoder, read, stored));  // an index beyond the block
      }
}

TEST_CASE("lc/block_code: the newest known code that is good enough is taken") {
  std::mt19937 random(2);
  const auto counts = huffman::count_bytes(random_bytes(100'000, 30, random));
  const auto fresh = choose_code(counts, nullptr);
  REQUIRE(fresh.stored == step_code::kind::by_id);
  CHECK(fresh.lengths == huffman::find_code_lengths(counts));

  const auto other = huffman::find_code_lengths(huffman::count_bytes(random_bytes(100'000, 90, random)));
  code_tables stale;
  stale.add(make_code_table(other));
  REQUIRE(patched_bits(counts, other) < 8 * 100'000);
  CHECK(choose_code(counts, &stale).id == fresh.id);
  code_tables known;
  known.add(make_code_table(fresh.lengths));
  CHECK(choose_code(counts, &known).id == fresh.id);
  auto near = counts;
  ++near[29];
  near[0] += 500;
  known.add(make_code_table(other));
  CHECK(choose_code(near, &known).id == fresh.id);
  auto lacking = counts;
  lacking[255] += 5;
  CHECK(choose_code(lacking, &known).id == fresh.id);
  lacking[255] += 500;
  CHECK(choose_code(lacking, &known).id == make_code_table(huffman::find_code_lengths(lacking)).id);

  const auto few = huffman::count_bytes(random_bytes(1000, 30, random));
  CHECK(choose_code(few, nullptr).stored == step_code::kind::within);
  CHECK(choose_code({}, &known).stored == step_code::kind::none);
}
