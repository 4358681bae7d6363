#include "cairn/store/facts.hpp"

#include <random>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::fact;

TEST_CASE("any structure is written and read back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    cairn::structure facts;
    for (std::size_t i = random() % 10; i > 0; --i) {
      fact about;
      about.what = static_cast<fact::kind>(random() % 7);
      const auto word = [&] { return "\"w\n" + std::to_string(random() % 50); };
      if (about.what == fact::kind::keys)
        for (std::size_t k = random() % 40; k > 0; --k) about.keys.push_back(word());
      else if (about.what == fact::kind::type || about.what == fact::kind::same)
        about.text = word();
      else
        about.number = random() >> (random() % 64);
      facts["model." + word()] = about;
    }
    CHECK(cairn::read_facts(cairn::write_facts(facts), "here", 4096) == facts);
  }
}

TEST_CASE("the text of facts") {
  cairn::structure facts;
  facts["layers"] = {fact::kind::size, 3, {}, {}};
  facts["moments"] = {fact::kind::keys, 0, {}, {"a", "bias"}};
  CHECK(cairn::write_facts(facts) == R"({"layers":{"size":3},"moments":{"keys":["a"  ,"bias"]}})");
}

TEST_CASE("malformed facts are refused, with their path") {
  for (const std::string text :
       {R"({"p":1})", R"({"p":{}})", R"({"p":{"sizes":1}})", R"({"p":{"size":"1"}})", R"({"p":{"size":-1}})",
        R"({"p":{"size":1,"index":1}})", R"({"p":{"keys":1}})", R"({"p":{"keys":[1]}})", R"({"p":{"keys":[[]]}})",
        R"({"p":{"size":[1]}})", R"({"p":{"type":["x"]}})", R"({"p":[]})", R"({"p":{"size":{}}})"}) {
    INFO(text);
    const auto failure = sample::failure_of([&] { static_cast<void>(cairn::read_facts(text, "here", 4096)); });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

TEST_CASE("more keys than the file has room for are refused") {
  std::string text = R"({"p":{"keys":[)";
  for (int i = 0; i < 100; ++i) text += i == 0 ? "\"\"" : ",\"\"";
  text += "]}}";
  CHECK(sample::failure_of([&] { static_cast<void>(cairn::read_facts(text, "here", text.size())); }).code ==
        cairn::errc::corrupt);
  CHECK(cairn::read_facts(text, "here", 100 * 8)["p"].keys.size() == 100);
}

TEST_CASE("a file always has room for the keys in it") {
  cairn::structure facts;
  auto& keys = facts["map"].keys;
  facts["map"].what = fact::kind::keys;
  for (char a = 'a'; a <= 'z'; ++a) {
    keys.emplace_back(1, a);
    for (char b = 'a'; b <= 'z'; ++b) keys.push_back({a, b});
  }
  const auto text = cairn::write_facts(facts);
  std::string in_header;
  cairn::append_json(in_header, text, "the metadata");
  CHECK(cairn::read_facts(text, "here", in_header.size()) == facts);
}
