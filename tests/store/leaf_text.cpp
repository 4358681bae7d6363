// SPDX-License-Identifier: MIT
#include "cairn/store/leaf_text.hpp"

#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "cairn/store/writer.hpp"
#include "cairn/system/json.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn::detail;

// tests/store/layout.cpp writes and reads all kinds of layouts, tests/store/index.cpp leaves with all that is stored of
// them.

namespace {

using entry = structure_entry;
constexpr double without_end = std::numeric_limits<double>::infinity();

template <class T>
struct lone {
  T value{};
};

template <class Io>
void describe(Io& io, described<Io, lone<std::optional<cairn::loss>>>& of) {
  io.object([&] { describe_loss(io, of.value); });
}

template <class Io>
void describe(Io& io, described<Io, lone<cairn::restored_loss>>& of) {
  io.object([&] { io.field("restored", of.value); });
}

template <class T>
sample::failure refusal(std::string_view text) {
  return sample::failure_of([&] { static_cast<void>(from_json<T>(text, "here")); });
}

}  // namespace

TEST_CASE("losses come back from members and from lists, with and without that of the delta") {
  for (const cairn::loss& lost : {cairn::loss{0.5, 0.1}, cairn::loss{0.5, 0.1, 0.3}, cairn::loss{0, 0, 0},
                                  cairn::loss{1e300, without_end, without_end}}) {
    const lone<std::optional<cairn::loss>> members{lost};
    CHECK(from_json<lone<std::optional<cairn::loss>>>(to_json(members), "here").value == lost);
    const std::map<std::string, cairn::loss> listed{{"w", lost}};
    CHECK(from_json<std::map<std::string, cairn::loss>>(to_json(listed), "here") == listed);
    for (const std::uint64_t restores : {1U, 7U, 1'000'000U}) {
      const lone<cairn::restored_loss> restored{{lost, restores}};
      CHECK(from_json<lone<cairn::restored_loss>>(to_json(restored), "here").value == restored.value);
    }
  }
  CHECK(to_json(lone<std::optional<cairn::loss>>{}) == "{}");
  CHECK_FALSE(from_json<lone<std::optional<cairn::loss>>>("{}", "here").value);
  CHECK(to_json(lone<cairn::restored_loss>{{{0.5, 0.1, 0.3}, 1'000'000}}) == R"({"restored":[0.5,0.1,0.3,1000000]})");
}

TEST_CASE("a list of another length is no loss") {
  for (const std::string text :
       {R"({"w":[]})", R"({"w":[1]})", R"({"w":[1,2,3,4]})", R"({"w":[1,"x"]})", R"({"w":{}})"})
    CHECK(refusal<std::map<std::string, cairn::loss>>(text).says("\"w\" "));
  for (const std::string list :
       {"[]", "[1]", "[1,2]", "[1,2,0]", "[1,2,1e15]", "[1,2,-1]", "[1,2,3,4,5]", "[1,2,\"nan\"]"}) {
    INFO(list);
    CHECK(refusal<lone<cairn::restored_loss>>("{\"restored\":" + list + "}").says("\"restored\" has"));
  }
}

TEST_CASE("any structure is written and read back") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    structure all;
    for (std::size_t i = random() % 10; i > 0; --i) {
      entry made;
      made.what = static_cast<entry::kind>(random() % 10);
      const auto word = [&] { return "\"w\n" + std::to_string(random() % 50); };
      if (made.what == entry::kind::keys || made.what == entry::kind::names)
        for (std::size_t k = random() % 40; k > 0; --k) made.keys.push_back(word());
      else if (made.what == entry::kind::type || made.what == entry::kind::same)
        made.text = word();
      else
        made.number = random() >> (random() % 64);
      all["model." + word()] = made;
    }
    CHECK(from_json<structure>(to_json(all), "here") == all);
  }
}

TEST_CASE("a malformed structure is refused") {
  for (const std::string text :
       {R"({"p":1})", R"({"p":{}})", R"({"p":{"sizes":1}})", R"({"p":{"size":"1"}})", R"({"p":{"size":-1}})",
        R"({"p":{"size":1,"index":1}})", R"({"p":{"keys":1}})", R"({"p":{"keys":[1]}})", R"({"p":{"keys":[[]]}})",
        R"({"p":{"size":[1]}})", R"({"p":{"type":["x"]}})", R"({"p":[]})", R"({"p":{"size":{}}})"}) {
    INFO(text);
    const auto failure = refusal<structure>(text);
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says("here"));
  }
}

TEST_CASE("a shape has at most 64 dimensions") {
  std::string text = R"({"path":"w","dtype":"F32","shape":[1)";
  for (int i = 1; i < 64; ++i) text += ",1";
  const auto record = [](const std::string& own) {
    return R"({"shards":[],"data":1,"encoded":[],"own":[)" + own + R"(],"structure":{},"sample":[]})";
  };
  CHECK(read_shard_record(record(text + "]}"), "here").own.front().shape.size() == 64);
  const auto failure = sample::failure_of([&] { static_cast<void>(read_shard_record(record(text + ",1]}"), "here")); });
  CHECK(failure.says("\"shape\" has more than 64 dimensions"));
}
