// SPDX-License-Identifier: MIT
#include "cairn/system/json.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

using namespace cairn::detail;

/// Reads a text of any form.
void read_any(std::string_view text) { read_json(text, "here", json_object({{"a", {}}})); }

bool any_key(std::string_view /*key*/) { return true; }

/// What is said of a text that is not of the form.
sample::failure refusal(std::string_view text, const json_form& form) {
  return sample::failure_of([&] { read_json(text, "here", form); });
}

const auto unused = [](const json_value&) {};

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
    const auto key = random_utf8(random), value = random_utf8(random);
    json_writer json;
    const auto text = json.begin_object().key(key).text(value).end_object().take();
    std::string seen_key, seen;
    read_json(text, "here",
              json_map(json_text([&](const json_value& read) {
                         seen_key = read.key;
                         seen = read.text;
                       }),
                       any_key));
    CHECK(seen_key == key);
    CHECK(seen == value);
  }
}

TEST_CASE("nothing is read after the last field") {
  std::uint64_t seen = 0;
  const auto natural = json_natural([&](const json_value& read) { seen = read.natural; });
  const auto form = json_object({{"inner", json_object({{"a", natural, true, true}})}, {"b", natural}});
  for (const std::string rest : {"", ",\"x\":1}, \"b\": 2}", ", \"a\": }}", ",\"x\""}) {
    seen = 0;
    const auto text = "{\"inner\":{\"a\":7" + rest;
    if (rest.empty())
      CHECK(refusal(text, form).code == cairn::errc::corrupt);  // truncated
    else
      CHECK_NOTHROW(read_json(text, "here", form));
    CHECK(seen == 7);
  }
  CHECK_NOTHROW(read_json("{\"inner\":{\"a\":7},\"b\":2}", "here", form));
  CHECK(seen == 2);
}

TEST_CASE("any double is written and read back") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const auto bits = random();
    double value = 0, seen = 1;
    std::memcpy(&value, &bits, 8);
    if (round < 4)
      value = std::array{HUGE_VAL, -HUGE_VAL, static_cast<double>(NAN), -0.0}[static_cast<unsigned>(round)];
    json_writer json;
    const auto text = json.begin_object().key("k").real(value).end_object().take();
    read_json(text, "here", json_object({{"k", json_real([&](const json_value& read) { seen = read.real; })}}));
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

TEST_CASE("every value comes to its handler, between the beginning and the end of its container") {
  std::string seen;
  const auto note = [&](std::string_view what) { seen += std::string(what) + " "; };
  const auto natural = json_natural([&](const json_value& v) { note(std::string(v.key) + std::to_string(v.natural)); });
  const auto list = json_list(
      natural, [&](std::string_view key) { note(std::string(key) + "["); },
      [&](std::string_view key) { return note(std::string(key) + "]"), ""; });
  const auto inner = json_object(
      {{"n", natural, false}, {"t", json_text([&](const json_value& v) { note(v.text); })}, {"l", list, false}},
      [&](std::string_view key) { note(std::string(key) + "{"); },
      [&](std::string_view key) { return note(std::string(key) + "}"), ""; });
  read_json(R"({"a":{"t":"x","l":[1,2]},"b":{"n":18446744073709551615,"t":""}})", "here", json_map(inner, any_key));
  CHECK(seen == "a{ x l[ 1 2 l] a} b{ n18446744073709551615  b} ");
}

TEST_CASE("named fields and any others stand side by side") {
  std::string seen;
  auto form = json_map(json_text([&](const json_value& v) { seen += "=" + std::string(v.text); }),
                       [&](std::string_view key) { return seen += key, true; });
  form.fields.push_back({"n", json_natural([&](const json_value& v) { seen += std::to_string(v.natural); })});
  read_json(R"({"a":"b","n":1,"c":"d"})", "here", form);
  CHECK(seen == "a=b1c=d");
}

TEST_CASE("what is not of the form is refused, with the keys that lead to it") {
  const auto form = json_map(json_object({{"n", json_natural(unused)},
                                          {"r", json_real(unused), false},
                                          {"t", json_text(unused), false},
                                          {"l", json_list(json_list(json_natural(unused))), false},
                                          {"o", json_object({}), false},
                                          {"any", {}, false}}),
                             any_key);
  CHECK_NOTHROW(read_json(R"({"w":{"n":1,"any":{"x":[null,{"y":true}]}}})", "here", form));
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {R"({"w":{}})", R"("w" lacks "n")"},
           {R"({"w":{"n":1,"m":2}})", R"("w" has the unknown field "m")"},
           {R"({"w":1})", R"("w" is not an object)"},
           {R"({"w":[]})", R"("w" is not an object)"},
           {R"({"w":{"n":-1}})", R"("w", "n" is not an integer from 0 to 2^64 - 1)"},
           {R"({"w":{"n":1.0}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":18446744073709551616}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":"1"}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":null}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":true}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":[1]}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":{}}})", R"("w", "n" is not an integer)"},
           {R"({"w":{"n":1,"r":"NaN"}})", R"("w", "r" is not a number)"},
           {R"({"w":{"n":1,"r":1e-999}})", R"("w", "r" is out of range)"},
           {R"({"w":{"n":1,"t":7}})", R"("w", "t" is not a string)"},
           {R"({"w":{"n":1,"l":{}}})", R"("w", "l" is not a list)"},
           {R"({"w":{"n":1,"l":[1]}})", R"("w", "l" is not a list)"},
           {R"({"w":{"n":1,"l":[["x"]]}})", R"("w", "l" is not an integer)"},
           {R"({"w":{"n":1,"o":{"x":1}}})", R"("w", "o" has the unknown field "x")"}}) {
    INFO(text);
    const auto failure = refusal(text, form);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here: "));
    CHECK(failure.says(why));
  }
}

TEST_CASE("a handler says what is wrong with a value or a container") {
  const auto form = json_object(
      {{"n", json_natural([](const json_value& v) { return v.natural > 1 ? "is neither 0 nor 1" : ""; }), false},
       {"l", json_list(json_natural(unused), {}, [](std::string_view) { return "is too short"; }), false}});
  CHECK_NOTHROW(read_json(R"({"n":1})", "here", form));
  CHECK(refusal(R"({"n":2})", form).says("\"n\" is neither 0 nor 1"));
  CHECK(refusal(R"({"l":[]})", form).says("\"l\" is too short"));
}

TEST_CASE("what is not JSON is refused, with its origin") {
  for (const std::string text : {"", "[]", " {}", "{", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{\"a\" 1}",
                                 "{\"a\":01}", "{'a':1}", "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xc0\x80\"}",
                                 "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1e999}", "{\"a\":nan}"}) {
    INFO(text);
    const auto failure = sample::failure_of([&] { read_any(text); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
  CHECK(sample::failure_of([] { read_any(std::string("{}\0", 3)); }).says("zero byte"));
}

TEST_CASE("a key that appears twice is refused") {
  CHECK(refusal(R"({"n":1,"n":1})", json_object({{"n", json_natural(unused)}})).says("\"n\" appears twice"));
  std::map<std::string, int> kept;
  int* last = nullptr;
  const auto form = json_map(json_natural([&](const json_value& value) { *last = static_cast<int>(value.natural); }),
                             [&](std::string_view key) { return make_member(kept, key, last); });
  CHECK_NOTHROW(read_json(R"({"a":1,"b":2})", "here", form));
  CHECK(kept == std::map<std::string, int>{{"a", 1}, {"b", 2}});
  kept.clear();
  CHECK(refusal(R"({"a":1,"b":2,"a":3})", form).says("\"a\" appears twice"));
}

TEST_CASE("nesting is capped, however deep") {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 10'000; ++i) deep += '[';
  CHECK(sample::failure_of([&] { read_any(deep); }).says("nested deeper than 8"));
  CHECK_NOTHROW(read_any(R"({"a":[[[[[[[1]]]]]]]})"));
  CHECK(sample::failure_of([] { read_any(R"({"a":[[[[[[[[1]]]]]]]]})"); }).says("nested deeper"));
}

TEST_CASE("what is not UTF-8 is not written") {
  for (const std::string value : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    json_writer json;
    const auto failure = sample::failure_of([&] { json.text(value, "the path"); });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("the path"));
    CHECK(to_utf8(value).find("\xEF\xBF\xBD") != std::string::npos);
  }
  CHECK(to_utf8("a\xff\u20ac\xe2\x82z") == "a\xEF\xBF\xBD\u20ac\xEF\xBF\xBD\xEF\xBF\xBDz");
}
