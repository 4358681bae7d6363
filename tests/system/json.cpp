#include "cairn/system/json.hpp"

#include <cstring>
#include <limits>
#include <random>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

using kind = cairn::json_event::kind;

std::vector<std::string> events(std::string_view text, std::size_t depth = 8) {
  std::vector<std::string> seen;
  cairn::read_json(text, "here", depth, [&](const cairn::json_event& event) {
    std::string line;
    for (const auto& key : event.path) line += "/" + key;
    switch (event.what) {
      case kind::open_object:
        line += " {";
        break;
      case kind::open_array:
        line += " [";
        break;
      case kind::close:
        line += " end";
        break;
      case kind::string:
        line += " '" + std::string(event.text) + "'";
        break;
      case kind::natural:
        line += " n" + std::to_string(event.number);
        break;
      case kind::real:
        line += " r";
        break;
      case kind::other:
        line += " ?";
        break;
    }
    seen.push_back(line);
  });
  return seen;
}

std::string random_utf8(std::mt19937_64& random) {
  std::string text;
  const std::size_t length = random() % 20;
  for (std::size_t i = 0; i < length; ++i) {
    switch (random() % 6) {
      case 0:
        text += static_cast<char>(random() % 0x20);
        break;
      case 1:
        text += "\"\\/"[random() % 3];
        break;
      case 2:
        text += "\u00e9";
        break;
      case 3:
        text += "\u20ac";
        break;
      case 4:
        text += "\U0001F600";
        break;
      default:
        text += static_cast<char>(0x20 + random() % 0x60);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("any UTF-8 string is written and read back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const auto value = random_utf8(random);
    std::string text = "{\"k\":";
    cairn::append_json(text, value, "the value");
    std::string seen;
    cairn::read_json(text + "}", "here", 2, [&](const cairn::json_event& event) {
      if (event.what == kind::string) seen = event.text;
    });
    CHECK(seen == value);
  }
}

TEST_CASE("any finite double is written and read back") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto bits = random();
    double value = 0, seen = 1;
    std::memcpy(&value, &bits, 8);
    if (!std::isfinite(value)) continue;
    std::string text = "{\"k\":";
    cairn::append_json(text, value);
    cairn::read_json(text + "}", "here", 2, [&](const cairn::json_event& event) {
      if (event.what == kind::real) seen = event.real;
      if (event.what == kind::natural) seen = static_cast<double>(event.number);
    });
    CHECK(seen == value);
  }
}

TEST_CASE("the events say where every value is") {
  CHECK(events(R"({"a":{"b":[1,-2,2.5,null]},"c":"x"})") ==
        std::vector<std::string>{" {", "/a {", "/a/b [", "/a/b/ n1", "/a/b/ r", "/a/b/ r", "/a/b/ ?", "/a/b end",
                                 "/a end", "/c 'x'", " end"});
  CHECK(events(R"({"n":18446744073709551615})")[1] == "/n n18446744073709551615");
  CHECK(events(R"({"n":18446744073709551616})")[1] == "/n r");
}

TEST_CASE("what is not JSON is refused, with its origin") {
  for (const std::string text : {"", "[]", " {}", "{", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{\"a\" 1}",
                                 "{\"a\":01}", "{'a':1}", "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xc0\x80\"}",
                                 "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1e999}", "{\"a\":nan}"}) {
    INFO(text);
    const auto failure = sample::failure_of([&] { events(text); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
  CHECK(sample::failure_of([] { events(std::string("{}\0", 3)); }).says("zero byte"));
}

TEST_CASE("a key that appears twice is refused") {
  CHECK(sample::failure_of([] { events(R"({"a":1,"a":2})"); }).says("\"a\" appears twice"));
  CHECK(sample::failure_of([] { events(R"({"x":{"a":1,"b":2,"a":2}})"); }).says("\"a\" appears twice"));
  CHECK_NOTHROW(events(R"({"a":{"a":1},"b":{"a":1}})"));
}

TEST_CASE("nesting is capped, however deep") {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 10'000; ++i) deep += '[';
  CHECK(sample::failure_of([&] { events(deep); }).says("nested deeper than 8"));
  CHECK_NOTHROW(events(R"({"a":[1]})", 2));
  CHECK(sample::failure_of([] { events(R"({"a":[[1]]})", 2); }).says("nested deeper"));
}

TEST_CASE("what is not UTF-8 is not written") {
  for (const std::string value : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    std::string text;
    const auto failure = sample::failure_of([&] { cairn::append_json(text, value, "the path"); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("the path"));
  }
}
