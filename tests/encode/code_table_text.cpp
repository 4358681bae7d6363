// SPDX-License-Identifier: MIT
#include "cairn/encode/code_table_text.hpp"

#include <string>

#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn::detail;

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
