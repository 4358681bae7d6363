// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/payload.hpp"
#include "cairn/encode/lc/block_code.hpp"

#include "cairn/encode/code_table_text.hpp"
#include "catch.hpp"

using namespace cairn;
using namespace cairn::detail::lc;
using namespace cairn::detail;

TEST_CASE("lc/payload: numbers come back, and none is read that is not there") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t number = random() >> (1 + round % 63);
    byte_writer out;
    out.put_number(number);
    byte_reader in(out.bytes());
    CHECK(in.take_number() == number);
    CHECK(in.good());
    CHECK(in.rest().empty());
    byte_reader cut(out.bytes().first(out.bytes().size() - 1));
    static_cast<void>(cut.take_number());
    CHECK(!cut.good());
  }
  const std::vector<std::byte> endless(20, std::byte{0xFF});
  byte_reader in(endless);
  static_cast<void>(in.take_number());
  CHECK(!in.good());
  CHECK(in.take(1).empty());
}

TEST_CASE("lc/payload: headers of steps come back") {
  for (const unsigned bits : {2U, 3U})
    for (const auto delta : {delta_kind::difference, delta_kind::ratio})
      for (const auto kind : {step_code::kind::none, step_code::kind::within, step_code::kind::by_id}) {
        step_header step;
        step.bits = bits;
        step.symbols = bits;
        for (std::size_t s = 1; s <= bits; ++s) step.table.values[s] = 8.0F * static_cast<float>(s);
        step.delta = delta;
        step.code.stored = kind;
        step.code.lengths[3] = step.code.lengths[200] = 1;
        step.code.id = 42;
        byte_writer out;
        put_step_header(out, step);
        CHECK(out.bytes().size() <= headers_bound);
        byte_reader in(out.bytes());
        const auto read = take_step_header(in);
        REQUIRE(read);
        CHECK(in.rest().empty());
        CHECK(read->bits == bits);
        CHECK(read->symbols == bits);
        CHECK(read->delta == step.delta);
        for (std::size_t s = 0; s < 8; ++s) CHECK(read->table.values[s] == step.table.values[s]);
        CHECK(read->code.stored == kind);
        if (kind == step_code::kind::within) CHECK(read->code.lengths == step.code.lengths);
        if (kind == step_code::kind::by_id) CHECK(read->code.id == 42);
        for (std::size_t length = 0; length < out.bytes().size(); ++length) {
          byte_reader cut(out.bytes().first(length));
          CHECK(!take_step_header(cut));
        }
      }
}

TEST_CASE("lc/payload: a header with a flag that no version writes is malformed") {
  for (const unsigned flags : {1U, 3U, 5U, 6U, 7U, 9U, 16U, 128U}) {
    const std::vector<std::byte> header{std::byte{2}, static_cast<std::byte>(flags), std::byte{0}};
    std::vector<std::byte> long_enough = header;
    long_enough.resize(300);
    byte_reader in(long_enough);
    CHECK(!take_step_header(in));
  }
}

TEST_CASE("lc/payload: steps are found in order") {
  const auto all_there = [](std::span<const std::byte>) {};
  byte_writer out;
  put_payload_header(out, 3, last_version);
  const std::vector<std::byte> some(200, std::byte{1}), last(5, std::byte{2});
  out.put_number(some.size());
  out.put(some);
  out.put_number(0);
  out.put(last);
  std::vector<std::size_t> sizes;
  CHECK(for_each_step(out.bytes(), all_there, [&](std::span<const std::byte> step) { sizes.push_back(step.size()); }));
  CHECK(sizes == std::vector<std::size_t>{200, 0, 5});
  CHECK(!for_each_step(out.bytes().first(100), all_there, [](auto) {}));
  CHECK(!for_each_step(out.bytes().subspan(1), all_there, [](auto) {}));
  CHECK(!for_each_step({}, all_there, [](auto) {}));
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
