// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/payload.hpp"
#include "cairn/encode/lc/block_code.hpp"

#include "cairn/encode/code_table_text.hpp"
#include "catch.hpp"

using namespace cairn;
using namespace cairn::detail::lc;
using namespace cairn::detail;

TEST_CASE("lc/payload: a header with a flag that no version writes is malformed") {
  for (const unsigned flags : {1U, 3U, 5U, 6U, 7U, 9U, 16U, 128U}) {
    const std::vector<std::byte> header{std::byte{2}, static_cast<std::byte>(flags), std::byte{0}};
    std::vector<std::byte> long_enough = header;
    long_enough.resize(300);
    byte_reader in(long_enough);
    CHECK(!take_step_header(in));
  }
}

namespace {

std::vector<std::byte> random_bytes(std::size_t n, unsigned kinds, std::mt19937& random) {
  std::vector<std::byte> bytes(n);
  for (auto& b : bytes) b = static_cast<std::byte>(std::min(random() % kinds, random() % kinds));
  return bytes;
}

}  // namespace

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
