// SPDX-License-Identifier: MIT
#include "cairn/encode/code_tables.hpp"
#include "cairn/encode/code_table_text.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn;
using cairn::detail::checksum;
using cairn::detail::make_code_table;
using namespace cairn::detail;

namespace {

code_table random_table(std::mt19937_64& random) {
  code_lengths lengths;
  for (auto& length : lengths) length = static_cast<std::uint8_t>(random() % 13);
  return make_code_table(lengths);
}

}  // namespace

TEST_CASE("a table is named by the checksum of its lengths") {
  code_lengths lengths{};
  lengths[7] = 3;
  const auto table = make_code_table(lengths);
  CHECK(table.lengths == lengths);
  CHECK(table.id == checksum(std::as_bytes(std::span(lengths))));
  CHECK(table == make_code_table(lengths));
  lengths[7] = 4;
  CHECK_FALSE(table == make_code_table(lengths));
  CHECK(table.id != make_code_table(lengths).id);
}

TEST_CASE("tables are found by id, and lie in the order in which they were added last") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<code_table> pool, expected;
    for (int i = 0; i < 8; ++i) pool.push_back(random_table(random));
    code_tables tables;
    for (int step = 0; step < 30; ++step) {
      const auto& table = pool[random() % pool.size()];
      tables.add(table);
      expected.erase(std::remove(expected.begin(), expected.end(), table), expected.end());
      expected.push_back(table);
      REQUIRE(std::vector(tables.all().begin(), tables.all().end()) == expected);
      for (const auto& each : pool) {
        const bool added = std::find(expected.begin(), expected.end(), each) != expected.end();
        const auto* found = tables.find(each.id);
        REQUIRE((found != nullptr) == added);
        if (found != nullptr) REQUIRE(*found == each.lengths);
      }
    }
    for (const std::size_t most : {100U, 3U, 1U}) {
      tables.keep_newest(most);
      expected.erase(expected.begin(), expected.end() - static_cast<std::ptrdiff_t>(std::min(most, expected.size())));
      REQUIRE(std::vector(tables.all().begin(), tables.all().end()) == expected);
      for (const auto& each : expected) REQUIRE(*tables.find(each.id) == each.lengths);
      REQUIRE(std::count_if(pool.begin(), pool.end(),
                            [&](const auto& each) { return tables.find(each.id) != nullptr; }) == std::ssize(expected));
    }
    tables.clear();
    REQUIRE(tables.all().empty());
    REQUIRE(tables.find(pool[0].id) == nullptr);
  }
}

TEST_CASE("a code table becomes an id and digits, and a table again") {
  cairn::code_lengths lengths{};
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::uint8_t>(i % 13);
  const auto table = make_code_table(lengths);
  const auto [id, digits] = write_code_table(table);
  CHECK(id == cairn::detail::to_hex(table.id));
  CHECK(digits.substr(0, 14) == "0123456789abc0");
  CHECK(read_code_table(id, digits, "file") == table);
}

TEST_CASE("the text of a code table that is not one is refused, by file and id") {
  const auto [id, digits] = write_code_table(make_code_table({}));
  auto other = digits;
  other[7] = '1';
  auto beyond = digits;
  beyond[255] = 'd';
  const std::pair<std::string, std::string> bad[] = {
      {id, other}, {id, beyond}, {id, digits + "0"},    {id, digits.substr(1)},
      {id, ""},    {"", digits}, {"no number", digits}, {id + "0", digits}};
  for (const auto& [name, text] : bad) {
    INFO(name << " " << text);
    const auto failure = sample::failure_of([&] { static_cast<void>(read_code_table(name, text, "some/file")); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("some/file"));
    CHECK(failure.says("\"" + name + "\""));
  }
}
