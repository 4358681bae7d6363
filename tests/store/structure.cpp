// SPDX-License-Identifier: MIT
#include "cairn/store/structure.hpp"

#include <random>

#include "cairn/system/json.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using entry = cairn::detail::structure::mapped_type;

namespace {

cairn::detail::structure read_structure(std::string_view text, std::uint64_t file_bytes) {
  cairn::detail::structure all;
  cairn::detail::read_json(text, "here", cairn::detail::structure_form(all, file_bytes));
  return all;
}

}  // namespace

TEST_CASE("any structure is written and read back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    cairn::detail::structure all;
    for (std::size_t i = random() % 10; i > 0; --i) {
      entry made;
      made.what = static_cast<entry::kind>(random() % 9);
      const auto word = [&] { return "\"w\n" + std::to_string(random() % 50); };
      if (made.what == entry::kind::keys || made.what == entry::kind::names)
        for (std::size_t k = random() % 40; k > 0; --k) made.keys.push_back(word());
      else if (made.what == entry::kind::type || made.what == entry::kind::same)
        made.text = word();
      else
        made.number = random() >> (random() % 64);
      all["model." + word()] = made;
    }
    CHECK(read_structure(cairn::detail::write_structure(all), 4096) == all);
  }
}

TEST_CASE("the text of a structure") {
  cairn::detail::structure all;
  all["layers"] = {entry::kind::size, 3, {}, {}};
  all["moments"] = {entry::kind::keys, 0, {}, {"a", "bias"}};
  CHECK(cairn::detail::write_structure(all) == R"({"layers":{"size":3},"moments":{"keys":["a"  ,"bias"]}})");
  all.clear();
  all["act.@names"] = {entry::kind::names, 0, {}, {"0 a", "-1 relu"}};
  all["net.@version"] = {entry::kind::version, 2, {}, {}};
  CHECK(cairn::detail::write_structure(all) ==
        R"({"act.@names":{"names":["0 a","-1 relu"]},"net.@version":{"version":2}})");
}

TEST_CASE("a malformed structure is refused") {
  for (const std::string text :
       {R"({"p":1})", R"({"p":{}})", R"({"p":{"sizes":1}})", R"({"p":{"size":"1"}})", R"({"p":{"size":-1}})",
        R"({"p":{"size":1,"index":1}})", R"({"p":{"keys":1}})", R"({"p":{"keys":[1]}})", R"({"p":{"keys":[[]]}})",
        R"({"p":{"size":[1]}})", R"({"p":{"type":["x"]}})", R"({"p":[]})", R"({"p":{"size":{}}})"}) {
    INFO(text);
    const auto failure = sample::failure_of([&] { static_cast<void>(read_structure(text, 4096)); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

TEST_CASE("more keys than the file has room for are refused") {
  std::string text = R"({"p":{"keys":[)";
  for (int i = 0; i < 100; ++i) text += i == 0 ? "\"\"" : ",\"\"";
  text += "]}}";
  CHECK(sample::failure_of([&] { static_cast<void>(read_structure(text, text.size())); }).code == cairn::errc::corrupt);
  CHECK(read_structure(text, 100 * 8)["p"].keys.size() == 100);
}

TEST_CASE("a file always has room for the keys in it") {
  cairn::detail::structure all;
  auto& keys = all["map"].keys;
  all["map"].what = entry::kind::keys;
  for (char a = 'a'; a <= 'z'; ++a) {
    keys.emplace_back(1, a);
    for (char b = 'a'; b <= 'z'; ++b) keys.push_back({a, b});
  }
  const auto text = cairn::detail::write_structure(all);
  const auto in_header = cairn::detail::json_writer().text(text).take();
  CHECK(read_structure(text, in_header.size()) == all);
}
