// SPDX-License-Identifier: MIT
#include "cairn/import/pickle.hpp"

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "cairn/core/error.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using namespace std::string_literals;
using cairn::errc;
using cairn::detail::pickle_machine;
using cairn::detail::pickle_value;
using kind = pickle_value::kind;

namespace {

/// The value as a text in the manner of Python.
std::string text_of(const pickle_machine& of, std::size_t value, int level = 0) {
  const auto& what = of.at(value);
  if (level > 50) return "...";
  const auto joined = [&] {
    std::string all;
    for (const auto each : what.items) all += (all.empty() ? "" : " ") + text_of(of, each, level + 1);
    return all;
  };
  switch (what.what) {
    case kind::none:
      return "None";
    case kind::boolean:
      return what.number ? "True" : "False";
    case kind::integer:
      return std::to_string(std::bit_cast<std::int64_t>(what.number));
    case kind::real:
      return std::to_string(std::bit_cast<double>(what.number));
    case kind::text:
      return "'" + std::string(what.text) + "'";
    case kind::sequence:
      return "[" + joined() + "]";
    case kind::dict:
      return "{" + joined() + "}";
    case kind::global:
      return std::string(what.module) + "." + std::string(what.text);
    case kind::call:
      return "call(" + joined() + ")";
    case kind::persistent:
      return "persistent(" + joined() + ")";
    case kind::unsupported:
      return "unsupported";
    case kind::mark:
      return "mark";
  }
  return "";
}

std::string read(std::string_view bytes) {
  cairn::detail::import_memory memory;
  pickle_machine machine(sample::bytes_of(bytes), "a.pkl", memory);
  const auto made = machine.run();
  return text_of(machine, made);
}

void check_refused(std::string_view bytes, errc code, std::string_view says) {
  const auto failure = sample::failure_of([&] { read(bytes); });
  CAPTURE(failure.sentence);
  CHECK(failure.code == code);
  CHECK(failure.says("a.pkl"));
  CHECK(failure.says(says));
}

}  // namespace

TEST_CASE("a pickle of plain values is read") {
  CHECK(read("\x80\x02N.") == "None");
  CHECK(read("\x80\x02\x88.") == "True");
  CHECK(read("\x80\x02K\x07.") == "7");
  CHECK(read("\x80\x02M\x01\x02.") == "513");
  CHECK(read("\x80\x02J\xff\xff\xff\xff.") == "-1");
  CHECK(read("\x80\x02\x8a\x00."s) == "0");
  CHECK(read("\x80\x02\x8a\x01\xff.") == "-1");
  CHECK(read("\x80\x02\x8a\x03\x00\x00\x01."s) == "65536");
  CHECK(read("\x80\x02\x8a\x09"
             "123456789.") == "unsupported");
  CHECK(read("\x80\x02G\x3f\xf8\0\0\0\0\0\0."s) == "1.500000");
  CHECK(read("\x80\x02X\x02\0\0\0hi."s) == "'hi'");
  CHECK(read("\x80\x02]q\x01(K\x01K\x02\x65.") == "[1 2]");
  CHECK(read("\x80\x02K\x01K\x02\x86.") == "[1 2]");
  CHECK(read("\x80\x04\x8f(K\x01\x90.") == "unsupported");  // sets have no order
  CHECK(read("\x80\x04(K\x01\x91.") == "unsupported");
  CHECK(read("\x80\x02}(X\x01\0\0\0aK\x01X\x01\0\0\0bNu."s) == "{'a' 1 'b' None}");
  CHECK(read("\x80\x02}q\x05X\x01\0\0\0ah\x05s."s).starts_with("{'a' {'a' {"));
  CHECK(read("\x80\x04\x95\x05\0\0\0\0\0\0\0\x8c\x01x\x94h\0\x86."s) == "['x' 'x']");
}

TEST_CASE("a pickle of objects names what it would call, and calls nothing") {
  CHECK(read("\x80\x02"
             "cos\nsystem\nX\x02\0\0\0ls\x85R."s) == "call(os.system ['ls'])");
  CHECK(read("\x80\x02"
             "ccollections\nOrderedDict\n)R(X\x01\0\0\0aK\x01u."s) == "{'a' 1}");
  CHECK(read("\x80\x02"
             "cm\nC\n)\x81}b."s) == "call(m.C [])");
  CHECK(read("\x80\x02"
             "cm\nC\n)\x81(X\x01\0\0\0aK\x01uK\x02K\x03s."s) ==
        "call(m.C [] {'a' 1 2 3})");  // a class derived from dict
  CHECK(read("\x80\x02"
             "cm\nC\n)\x81K\x01\x61."s) == "call(m.C [] [1])");
  CHECK(read("\x80\x02X\x01\0\0\0mX\x01\0\0\0C\x93."s) == "m.C");
  CHECK(read("\x80\x02X\x01\0\0\0kQ."s) == "persistent('k')");
}

TEST_CASE("a pickle that is damaged is refused") {
  for (const auto& bad : {""s, "\x80"s, "."s, "("s, "(."s, "X\x09\0\0\0."s, "X\xff\xff\xff\xff."s,
                          "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s, "h\x01."s, "K\x01K\x02s."s, "}K\x01K\x02K\x03u."s,
                          "}(K\x01u."s, "(q\x01."s, "K\x01K\x02\x93."s, "t."s, "e."s, "K\x01\x61."s, "cm\n"s}) {
    CAPTURE(bad);
    check_refused(bad, errc::corrupt, "the pickle has");
  }
  check_refused("P1\n.", errc::unsupported, "the operation 80");
}

TEST_CASE("a pickle cannot take much more memory than its file has: by values, what is remembered, or references") {
  const std::string_view says = "24 times the bytes of the file";
  check_refused(std::string(2'000'000, 'N') + ".", errc::no_memory, says);
  check_refused("N" + std::string(3'500'000, '\x94') + ".", errc::no_memory, says);
  std::string references(14'000'000, '\0');
  for (std::size_t i = 0; i < references.size(); i += 2) references[i] = 'h';
  check_refused("Nq\0"s + references + ".", errc::no_memory, says);
}

TEST_CASE("any bytes as a pickle are read or refused") {
  std::mt19937 random(2);
  const auto good =
      "\x80\x02}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01G\x3f\xf8\0\0\0\0\0\0eX\x01\0\0\0bq\x03"
      "ccollections\nOrderedDict\nq\x04)Rq\x05(X\x01\0\0\0cq\x06h\x02uu."s;
  CHECK(read(good) == "{'a' [1 1.500000] 'b' {'c' [1 1.500000]}}");
  for (int round = 0; round < 5000; ++round) {
    auto bad = good;
    for (auto changes = 1 + random() % 4; changes > 0; --changes)
      bad[random() % bad.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bad.resize(random() % (bad.size() + 1));
    const auto failure = sample::failure_of([&] {
      cairn::detail::import_memory memory;
      pickle_machine machine(sample::bytes_of(bad), "a.pkl", memory);
      machine.run();
    });
    if (!failure.sentence.empty()) CHECK((failure.code == errc::corrupt || failure.code == errc::unsupported));
  }
}
