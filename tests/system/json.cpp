// SPDX-License-Identifier: MIT
#include "cairn/system/json.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::read_number;
using cairn::detail::read_number_of_c;

namespace {

using namespace cairn::detail;

/// Reads a text as `fields(reader)` describes it, and returns what is said of it.
template <class Fields>
sample::failure refusal(std::string_view text, const Fields& fields) {
  return sample::failure_of([&] {
    json_reader io(text, "here");
    fields(io);
    io.end();
  });
}

/// Reads a text of any form.
sample::failure refusal_of_any(std::string_view text) {
  return refusal(text, [](json_reader& io) { io.object([&] { io.ignore_others(); }); });
}

/// A record with fields of all kinds.
struct inner {
  std::uint64_t n = 0;
  double r = 0.5;
  bool b = false;
  std::string t{};
  std::optional<std::uint64_t> o{};
  std::vector<std::vector<std::uint64_t>> l{};
  std::map<std::string, std::uint64_t> m{};

  friend bool operator==(const inner&, const inner&) = default;
};

template <class Io>
void describe(Io& io, described<Io, inner>& of) {
  io.object([&] {
    io.field("n", of.n);
    io.field("r", of.r);
    io.optional("b", of.b);
    io.optional("t", of.t);
    io.optional("o", of.o);
    io.optional("l", of.l);
    io.optional("m", of.m);
  });
  io.require(of.n != 13, "is unlucky");
}

struct outer {
  std::map<std::string, inner> named{};
  std::optional<inner> last{};
};

template <class Io>
void describe(Io& io, described<Io, outer>& of) {
  io.object([&] {
    io.part("number", of.last, &inner::n);
    io.part("text", of.last, &inner::t);
    io.members(of.named);
  });
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
    const std::map<std::string, std::string> strings{{random_utf8(random), random_utf8(random)}};
    CHECK(from_json<std::map<std::string, std::string>>(to_json(strings), "here") == strings);
  }
}

TEST_CASE("a record is read back, whatever the order of its fields") {
  const inner full{7, -2.5, true, "text", 0, {{1, 2}, {}}, {{"a", 1}, {"", 2}}};
  CHECK(to_json(full) == R"({"n":7,"r":-2.5,"b":1,"t":"text","o":0,"l":[[1,2],[]],"m":{"":2,"a":1}})");
  CHECK(from_json<inner>(to_json(full), "here") == full);
  CHECK(to_json(inner{}) == R"({"n":0,"r":0.5})");
  CHECK(from_json<inner>(to_json(inner{}), "here") == inner{});
  std::vector<std::string> fields{R"("n":7)",    R"("r":-2.5)",       R"( "b" : 1 )",       R"("t":"text")",
                                  "\n\t\"o\":0", R"("l":[[1,2],[]])", R"("m":{"a":1,"":2})"};
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(fields.begin(), fields.end(), random);
    std::string text;
    for (const auto& each : fields) text += (text.empty() ? "{" : ",") + each;
    CHECK(from_json<inner>(text + "} ", "here") == full);
  }
}

TEST_CASE("nothing is read after the last field that is wanted") {
  for (const std::string rest : {",\"x\":1}", ", \"x\": [}}", ",\"x\":", ""}) {
    std::uint64_t seen = 0;
    const auto failure = refusal("{\"a\":7" + rest, [&](json_reader& io) {
      io.object([&] {
        io.field("a", seen);
        io.ignore_rest();
      });
    });
    CHECK(failure.sentence.empty() == !rest.empty());  // truncated
    CHECK(seen == 7);
  }
  CHECK(refusal("{\"x\":1}", [](json_reader& io) {
          std::uint64_t seen = 0;
          io.object([&] {
            io.field("a", seen);
            io.ignore_rest();
          });
        }).says("it lacks \"a\""));
}

TEST_CASE("any double is written and read back") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto bits = random();
    double value = 0, seen = 1;
    std::memcpy(&value, &bits, 8);
    if (round < 4)
      value = std::array{HUGE_VAL, -HUGE_VAL, static_cast<double>(NAN), -0.0}[static_cast<unsigned>(round)];
    seen = from_json<std::map<std::string, double>>(to_json(std::map<std::string, double>{{"k", value}}), "here")["k"];
    if (std::isnan(value))
      CHECK(std::isnan(seen));
    else
      CHECK(std::memcmp(&seen, &value, sizeof seen) == 0);
  }
}

TEST_CASE("the written text is fixed to the byte") {
  json_writer json;
  json.begin_object().key("a\"\\/\n\x1f\u00e9").text("b").key("list").begin_list();
  json.natural(18446744073709551615U).real(0.1).real(2).real(1e300).real(-INFINITY).number("1.500").end_list();
  json.line().key("lines").begin_list().line().text("x").line().text("y").end_list();
  json.key("wide").begin_list().text("", "", 5).text("c", "", 5).text("long", "", 5).end_list();
  CHECK(json.key("none").begin_object().end_object().end_object().take() ==
        "{\"a\\\"\\\\/\\u000a\\u001f\u00e9\":\"b\",\"list\":[18446744073709551615,0.1,2,1e+300,\"-inf\",1.500],\n"
        "\"lines\":[\n\"x\",\n\"y\"],\"wide\":[\"\"   ,\"c\"  ,\"long\"],\"none\":{}}");
}

TEST_CASE("named fields and any others stand side by side") {
  for (const std::string text : {R"({"number":3,"text":"b","a":{"n":1,"r":1},"c":{"n":2,"r":2}})",
                                 R"({"a":{"n":1,"r":1},"text":"b","c":{"n":2,"r":2},"number":3})",
                                 R"({"text":"b","a":{"n":1,"r":1},"number":3,"c":{"n":2,"r":2}})"}) {
    const auto read = from_json<outer>(text, "here");
    CHECK(read.last == inner{.n = 3, .t = "b"});
    CHECK(read.named == std::map<std::string, inner>{{"a", {.n = 1, .r = 1}}, {"c", {.n = 2, .r = 2}}});
  }
  CHECK_FALSE(from_json<outer>("{}", "here").last);
  CHECK(to_json(from_json<outer>(R"({"a":{"n":1,"r":1},"text":"b"})", "here")) ==
        R"({"number":0,"text":"b","a":{"n":1,"r":1}})");
}

TEST_CASE("fields that are not known are passed over where that is said") {
  std::uint64_t a = 0, b = 0;
  const auto read = [&](json_reader& io) {
    io.object([&] {
      io.field("a", a);
      io.field("b", b);
      io.ignore_others();
    });
  };
  CHECK(refusal(R"({"x":[null,{"y":true,"a":[1.5e3,false]}],"b":2,"z":"\u00e9","a":1})", read).sentence.empty());
  CHECK(a == 1);
  CHECK(b == 2);
  CHECK(refusal(R"({"x":1,"b":2})", read).says("it lacks \"a\""));
  CHECK(refusal(R"({"x":nul,"b":2})", read).says("malformed JSON"));
}

TEST_CASE("what is not of the form is refused, with the keys that lead to it") {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {R"({"w":{}})", R"("w" lacks "n")"},
           {R"({"w":{"r":1,"t":"x"}})", R"("w" lacks "n")"},
           {R"({"w":{"n":2}})", R"("w" lacks "r")"},
           {R"({"w":{"n":1,"x":2}})", R"("w" has the unknown field "x")"},
           {R"({"w":1})", R"("w" is not an object)"},
           {R"({"w":[]})", R"("w" is not an object)"},
           {R"({"w":{"n":-1}})", R"("w", "n" is not an integer from 0 to 2^64 - 1)"},
           {R"({"w":{"n":1.0}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":1e3}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":18446744073709551616}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":"1"}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":null}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":true}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":[1]}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":{}}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":13,"r":1}})", R"("w" is unlucky)"},
           {R"({"w":{"n":1,"r":"NaN"}})", R"("w", "r" is not a number)"},
           {R"({"w":{"n":1,"r":null}})", R"("w", "r" is not a number)"},
           {R"({"w":{"n":1,"r":1e-999}})", R"("w", "r" is out of range)"},
           {R"({"w":{"n":1,"b":2}})", R"("w", "b" is neither 0 nor 1)"},
           {R"({"w":{"n":1,"t":7}})", R"("w", "t" is not a string)"},
           {R"({"w":{"n":1,"l":{}}})", R"("w", "l" is not a list)"},
           {R"({"w":{"n":1,"l":[1]}})", R"("w", "l" is not a list)"},
           {R"({"w":{"n":1,"l":[["x"]]}})", R"("w", "l" is not an integer)"},
           {R"({"w":{"n":1,"m":{"x":[]}}})", R"("w", "m", "x" is not an integer)"}}) {
    INFO(text);
    const auto failure = sample::failure_of([&, &json = text] { static_cast<void>(from_json<outer>(json, "here")); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here: "));
    CHECK(failure.says(why));
  }
}

TEST_CASE("what is not JSON is refused, with its origin") {
  for (const std::string text : {"",
                                 "[]",
                                 " {}",
                                 "{",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "{\"a\":1}x",
                                 "{\"a\" 1}",
                                 "{\"a\":01}",
                                 "{'a':1}",
                                 "{\"a\":\"\n\"}",
                                 "{\"a\":\"\xff\"}",
                                 "{\"a\":\"\xc0\x80\"}",
                                 "{\"a\":\"\xed\xa0\x80\"}",
                                 "{\"a\":\"\\ud800\"}",
                                 "{\"a\":nan}",
                                 "{\"a\":1,,}",
                                 "{\"a\":[1,]}",
                                 "{\"a\":[,1]}",
                                 "{\"a\":[1 2]}",
                                 "{1:2}",
                                 "{\"a\":1",
                                 "{\"a\":[1",
                                 "{\"a\":\"x",
                                 "{}{}"}) {
    INFO(text);
    const auto failure = refusal_of_any(text);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
  CHECK(refusal_of_any(std::string("{}\0", 3)).says("zero byte"));
}

TEST_CASE("numbers and plain strings are as strict as all others") {
  for (const std::string value : {"01", "00", "1x", "-1", "+1", "0x1", "1.", "1.e3"}) {
    INFO(value);
    std::map<std::string, std::uint64_t> naturals;
    std::map<std::string, double> reals;
    CHECK(refusal("{\"a\":" + value + "}", [&](json_reader& io) { io.value(naturals); }).code == cairn::errc::corrupt);
    if (value != "-1")
      CHECK(refusal("{\"a\":" + value + "}", [&](json_reader& io) { io.value(reals); }).code == cairn::errc::corrupt);
  }
  std::map<std::string, std::string> strings;
  for (const std::string value : {"\"\n\"", "\"\xff\"", "\"\x80\"", "\"\xed\xa0\x80\"", "\"\\x\"", "\"", "\"a"})
    CHECK(refusal("{\"a\":" + value + "}", [&](json_reader& io) { io.value(strings); }).code == cairn::errc::corrupt);
  CHECK(refusal("{\"\x7f\":\"\x7f\\u0041\u20ac\"}", [&](json_reader& io) { io.value(strings); }).sentence.empty());
  CHECK(strings["\x7f"] ==
        "\x7f"
        "A\u20ac");
}

TEST_CASE("a key that appears twice is refused") {
  std::map<std::string, std::uint64_t> map;
  for (const std::string text : {R"({"a":1,"b":2,"a":3})", R"({"a":1,"a":1})"})
    CHECK(refusal(text, [&](json_reader& io) { io.value(map); }).says("the key \"a\" appears twice"));
  for (const std::string text : {R"({"n":1,"r":1,"n":1})", R"({"r":1,"n":1,"n":1})", R"({"b":1,"n":1,"r":1,"b":1})"})
    CHECK(sample::failure_of([&] { static_cast<void>(from_json<inner>(text, "here")); }).says("appears twice"));
}

TEST_CASE("nesting is capped, however deep") {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 10'000; ++i) deep += '[';
  CHECK(refusal_of_any(deep).says("nested deeper than 8"));
  CHECK(refusal_of_any(R"({"a":[[[[[[[1]]]]]]]})").sentence.empty());
  CHECK(refusal_of_any(R"({"a":[[[[[[[[1]]]]]]]]})").says("nested deeper"));
}

TEST_CASE("strings in a list take at least six bytes each of a text") {
  using lists = std::map<std::string, std::vector<std::string>>;
  lists many;
  for (char a = 'a'; a <= 'z'; ++a)
    for (char b = 'a'; b <= 'z'; ++b) many["list"].push_back({a, b});
  CHECK(from_json<lists>(to_json(many), "here") == many);
  CHECK(to_json(lists{{"l", {"", "c", "long"}}}) == R"({"l":[""   ,"c"  ,"long"]})");
  std::string short_ones = "{\"l\":[\"\"";
  for (int i = 0; i < 100; ++i) short_ones += ",\"\"";
  short_ones += "]}";
  CHECK(sample::failure_of([&] { static_cast<void>(from_json<lists>(short_ones, "here")); }).says("\"l\" has more"));
  CHECK(from_json<lists>(short_ones + std::string(300, ' '), "here")["l"].size() == 101);
}

TEST_CASE("what is not UTF-8 is not written") {
  for (const std::string value : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    json_writer json;
    const auto failure = sample::failure_of([&] { json.text(value, "path"); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("path: \""));
    CHECK(to_utf8(value).find("\xEF\xBF\xBD") != std::string::npos);
  }
  CHECK(to_utf8("a\xff\u20ac\xe2\x82z") == "a\xEF\xBF\xBD\u20ac\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST_CASE("both ways to read a real number give the number that was written") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    auto bits = random();
    if (i % 4 == 0) bits &= ~cairn::detail::double_exponent_bits;  // subnormal
    const auto number = std::bit_cast<double>(bits);
    if (!cairn::detail::is_finite(number)) continue;
    std::array<char, 40> chars{};
    const auto end = std::to_chars(chars.data(), chars.data() + chars.size(), number).ptr;
    const std::string_view text(chars.data(), static_cast<std::size_t>(end - chars.data()));
    INFO(text);
    double read = 0, read_of_c = 0;
    REQUIRE(read_number(text, read));
    REQUIRE(read_number_of_c(text, read_of_c));
    REQUIRE(std::bit_cast<std::uint64_t>(read) == bits);
    REQUIRE(std::bit_cast<std::uint64_t>(read_of_c) == bits);
  }
}

TEST_CASE("a text that is more than a number, or none, or a number out of range, is refused both ways") {
  double number = 0;
  for (const std::string_view text : {"", "-", "1x", "1 ", "1e", "1e999", "-1e999", "1e-999", "0.001e-999", "1,5"}) {
    INFO(text);
    CHECK(!read_number(text, number));
    CHECK(!read_number_of_c(text, number));
  }
  for (const std::string_view text : {"0", "-0.0", "0e7", "0e-999", "0.00", "2e-308", "5e-324"}) {
    INFO(text);
    CHECK(read_number(text, number));
    CHECK(read_number_of_c(text, number));
  }
  std::uint64_t natural = 0;
  CHECK((read_number("18446744073709551615", natural) && natural == ~std::uint64_t{0}));
  CHECK(!read_number("18446744073709551616", natural));
}
