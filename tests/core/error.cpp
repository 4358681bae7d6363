// SPDX-License-Identifier: MIT
#include "cairn/core/error.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("an error carries its code and a sentence that says whose it is") {
  const auto failure = sample::failure_of([] { cairn::fail(cairn::errc::mismatch, {"w", " is F32"}); });
  CHECK(failure.code == cairn::errc::mismatch);
  CHECK(failure.sentence == "cairn: w is F32");
}

TEST_CASE("every code has a name of its own") {
  std::set<std::string_view> names;
  const auto last = static_cast<int>(cairn::errc::lost_rank);
  for (int code = 0; code <= last; ++code) names.insert(cairn::name(static_cast<cairn::errc>(code)));
  CHECK(names.size() == static_cast<std::size_t>(last) + 1);
  CHECK(cairn::name(cairn::errc::io) == "io");
  CHECK(cairn::name(cairn::errc::busy) == "busy");
  CHECK(cairn::name(cairn::errc::lost_rank) == "lost_rank");
  CHECK(cairn::name(static_cast<cairn::errc>(last + 1)) == "unknown");
}

TEST_CASE("an error of the system names action, file and cause") {
  const auto failure = sample::failure_of([] { cairn::fail_io("write", "a/b", ENOSPC); });
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.sentence == "cairn: cannot write a/b: No space left on device");
}

TEST_CASE("a sentence has texts and whole numbers of any type") {
  const std::string text = "b";
  CHECK(cairn::sentence({"a", text, std::string_view("c"), 1, 0U, -7, std::uint8_t{200},
                         std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::int64_t>::min()}) ==
        "abc10-720018446744073709551615-9223372036854775808");
}

TEST_CASE("a message shows names of any length and content in one line, and all other parts") {
  const std::string hostile = std::string("\0\n\x1b[2J", 6) + std::string(100'000, 'x') + '\xff';
  try {
    cairn::fail(cairn::errc::corrupt, {"file: \"", hostile, "\" and \"", hostile, "\" are wrong"});
  } catch (const cairn::error& error) {
    const std::string said = error.what();
    CHECK(said.starts_with("cairn: file: \"\\x00\\x0a\\x1b[2Jxxx"));
    CHECK(said.ends_with("x\\xff\" are wrong"));
    CHECK(said.find("\\xff\" and \"\\x00") != std::string::npos);
    CHECK(said.size() < 9000);
    CHECK(said == "cairn: " + std::string(error.sentence()));
    return;
  }
  FAIL("nothing was thrown");
}

TEST_CASE("the constructor escapes and cuts too") {
  const cairn::error error(cairn::errc::invalid, "a\tb" + std::string(100'000, 'x') + "c\nd");
  const std::string said = error.what();
  CHECK(said.starts_with("cairn: a\\x09bxxx"));
  CHECK(said.ends_with("xxc\\x0ad"));
  CHECK(said.size() < cairn::error::most_bytes + 100);
}

namespace {

template <class Thrown>
cairn::error converted(const Thrown& thrown) {
  return cairn::detail::as_error(std::make_exception_ptr(thrown), {"run/a"});
}

TEST_CASE("any exception becomes an error that says where; one of Cairn's stays as it is") {
  const auto ours = converted(cairn::error(cairn::errc::corrupt, "b"));
  CHECK(ours.code() == cairn::errc::corrupt);
  CHECK(ours.sentence() == "b");
  CHECK(converted(std::bad_alloc()).code() == cairn::errc::no_memory);
  CHECK(converted(std::bad_alloc()).sentence() == "run/a: not enough memory");
  CHECK(converted(std::length_error("at most 4")).code() == cairn::errc::invalid);
  CHECK(converted(std::length_error("at most 4")).sentence() == "run/a: at most 4");
  CHECK(converted(std::system_error(std::make_error_code(std::errc::no_space_on_device), "b")).code() ==
        cairn::errc::io);
  CHECK(converted(std::runtime_error("c")).code() == cairn::errc::invalid);
  CHECK(converted(std::runtime_error("c")).sentence() == "run/a: c");
  CHECK(converted(42).code() == cairn::errc::invalid);
  CHECK(converted(42).sentence() == "run/a: something was thrown that is no std::exception");
}

TEST_CASE("a call gives its result, and throws only errors") {
  CHECK(cairn::detail::with_errors("run/a", [] { return 7; }) == 7);
  const auto failure = sample::failure_of([] { cairn::detail::with_errors("run/a", [] { throw 42; }); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.sentence == "cairn: run/a: something was thrown that is no std::exception");
}

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
