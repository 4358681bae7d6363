// SPDX-License-Identifier: MIT
#include "cairn/core/error.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

namespace {

using namespace cairn::detail;

const std::vector<std::string> characters{"a",      " ",      "\\",         "~",         "\u00e9",
                                          "\u20ac", "\u2027", "\U0001F600", "\U0010FFFF"};
const std::vector<std::string> hidden{std::string(1, '\0'),
                                      "\n",
                                      "\x1b",
                                      "\x7f",
                                      "\u0080",
                                      "\u009b",
                                      "\u200b",
                                      "\u2028",
                                      "\u202e",
                                      "\u2066",
                                      "\ufeff",
                                      "\u00ad",
                                      "\u061c",
                                      "\u180e",
                                      "\ufffa",
                                      "\U000E0041"};
const std::vector<std::string> broken{"\x80",         "\xc1\x81",         "\xe0\x81\x81",
                                      "\xed\xa0\x80", "\xf0\x81\x81\x81", "\xf4\x90\x80\x80",
                                      "\xff",         "\xe2\x82",         "\xf0\x9f\x98"};

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_bytes(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool has_any(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    if (text.find(part) != std::string::npos) return true;
  return false;
}

std::string random_text(std::mt19937_64& random, std::initializer_list<const std::vector<std::string>*> of) {
  std::string text;
  for (auto left = random() % 30; left > 0; --left) {
    const auto& parts = **(of.begin() + random() % of.size());
    text += parts[random() % parts.size()];
  }
  return text;
}

}  // namespace

TEST_CASE("a character is told from bytes that are none") {
  for (const auto& each : characters) CHECK(utf8_bytes(each + "x") == each.size());
  for (const auto& each : hidden) CHECK(utf8_bytes(each + "x") == each.size());
  for (const auto& each : broken) CHECK(utf8_bytes(each) == 0);
  for (const auto& each : broken) CHECK(utf8_bytes(each + "x") == 0);
  CHECK(utf8_bytes("") == 0);
}

TEST_CASE("printable text stays as it is") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const auto text = random_text(random, {&characters});
    CHECK(printable(text) == text);
  }
}

TEST_CASE("whatever the text, what is shown is UTF-8 without hidden characters, and is not escaped twice") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto shown = printable(random_text(random, {&characters, &hidden, &broken}));
    CHECK(is_utf8(shown));
    CHECK_FALSE(has_any(shown, hidden));
    CHECK(printable(shown) == shown);
  }
}

TEST_CASE("escapes name the byte or the character") {
  CHECK(printable(std::string_view("a\0b\n\x1b[2J\x7f", 9)) == "a\\x00b\\x0a\\x1b[2J\\x7f");
  CHECK(printable("\u009b\u202e\ufeff") == "\\u009b\\u202e\\ufeff");
  CHECK(printable("\xff\xe2\x82z") == "\\xff\\xe2\\x82z");
}

TEST_CASE("a long text keeps its beginning and its end") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const auto text = random_text(random, {&characters});
    const std::size_t most = random() % 60;
    const auto shown = cut(text, most);
    CHECK(is_utf8(shown));
    if (text.size() <= most) {
      CHECK(shown == text);
      continue;
    }
    CHECK(shown.size() <= most + 40);
    const auto at = shown.find(" ... (");
    REQUIRE(at != std::string::npos);
    CHECK(at + 4 > most / 2);
    CHECK(text.starts_with(shown.substr(0, at)));
    CHECK(text.ends_with(shown.substr(shown.find(") ... ") + 6)));
  }
  CHECK(cut(std::string(40, 'a') + std::string(100'000, 'x') + std::string(40, 'b'), 80) ==
        std::string(40, 'a') + " ... (100000 bytes) ... " + std::string(40, 'b'));
}
