// SPDX-License-Identifier: MIT
#include "cairn/chain/leaf_encoder.hpp"

#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/encode/code_table_text.hpp"
#include "cairn/encode/lc.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "store/sample.hpp"

namespace codecs = cairn::codecs;

namespace {

using shards_of_staged = cairn::detail::shards_of<cairn::detail::staged_piece>;

shards_of_staged cut(const std::vector<cairn::detail::leaf>& leaves, std::size_t shards) {
  return cairn::detail::from_leaves<cairn::detail::staged_piece>(cairn::detail::divide_evenly(leaves, shards));
}

cairn::detail::shards_of<cairn::detail::encoded_piece> encode(const std::vector<cairn::detail::leaf>& leaves,
                                                              const shards_of_staged& shards,
                                                              const cairn::codec_rules& rules,
                                                              cairn::detail::delta_base* chain = nullptr,
                                                              bool as_delta = false, unsigned threads = 1) {
  const cairn::detail::leaf_codecs codecs(leaves, rules);
  cairn::save_report report;
  cairn::detail::leaf_encoder encoder(leaves, codecs, chain, as_delta, threads, report);
  auto encoded = encoder.encode(shards);
  encoder.finish();
  return encoded;
}

std::vector<std::byte> decoded(const cairn::detail::leaf& whole, const cairn::detail::encoded_piece& piece,
                               std::span<const std::byte> parent = {}) {
  const auto bytes = piece.count * cairn::size_of(whole.type);
  std::vector<std::byte> values(bytes);
  if (!parent.empty()) std::memcpy(values.data(), parent.data(), bytes);
  cairn::detail::codec_named(piece.how->codec, {}, "here")
      .decode({.where = "here",
               .path = whole.path,
               .type = whole.type,
               .payload = piece.bytes,
               .values = values,
               .relative = piece.how->relative});
  return values;
}

}  // namespace

TEST_CASE("codecs get at least one thread, also where the option leaves the number to Cairn") {
  struct dividing {  // keeps the numbers of threads that it gets
    std::vector<unsigned>* given;

    [[nodiscard]] std::string name() const { return "dividing"; }
    [[nodiscard]] bool uses_parent() const { return false; }
    [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
    [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> /*out*/) const {
      given->push_back(in.threads);
      return {};
    }
    void decode(const cairn::decode_request& /*from*/) const {}
  };
  std::vector<unsigned> given;
  const std::vector<float> values(1000);
  const auto leaves = cairn::detail::describe(values).leaves;
  std::ignore = encode(leaves, cut(leaves, 1), {{"*", dividing{&given}}}, nullptr, false, 0);
  CHECK(given == std::vector{1U});
}

TEST_CASE("what a description has copied is written from there, and not copied again") {
  struct mixed {
    std::map<int, float> values;
    std::vector<float> live;
  };
  mixed all{{}, std::vector<float>(1000)};
  for (int i = 0; i < 1000; ++i) all.values[i] = static_cast<float>(i);
  const auto leaves = cairn::detail::describe(all).leaves;
  for (const auto& shard : encode(leaves, cut(leaves, 2), {}))
    for (const auto& each : shard) {
      const auto& whole = leaves[each.leaf];
      const auto* const place = whole.memory + each.first * cairn::size_of(whole.type);
      CHECK(each.bytes.data() == (whole.owner ? place : nullptr));
    }
  CHECK(std::ranges::count_if(leaves, [](const auto& each) { return bool(each.owner); }) == 2);
}

TEST_CASE("the pieces of a delta share their code tables, and the chain forgets old ones") {
  struct with_tables {  // each payload has a new table
    std::uint64_t* made;

    [[nodiscard]] std::string name() const { return "with_tables"; }
    [[nodiscard]] bool uses_parent() const { return true; }
    [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
    [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> /*out*/) const {
      cairn::code_lengths lengths{};
      for (std::size_t i = 0, n = ++*made; i < 16; ++i, n /= 10) lengths[i] = static_cast<std::uint8_t>(n % 10);
      return {.codec = name(), .bytes = in.values.size(), .tables = {cairn::detail::make_code_table(lengths)}};
    }
    void decode(const cairn::decode_request& /*from*/) const {}
  };
  std::uint64_t made = 0;
  struct setting {
    cairn::codec_rules rules;
    std::size_t leaves, elements, most_in_save;
    bool is_serial;
  };
  const setting all[] = {{{{"*", codecs::lc<3>{}}}, 24, 140'000, 6, false},
                         {{{"*", with_tables{&made}}}, 100, 100, 102, true}};  // two leaves are cut
  for (const auto& [rules, count, elements, most_in_save, is_serial] : all)
    for (const unsigned threads : {1U, 3U}) {
      std::mt19937 random(6);
      std::normal_distribution<float> normal;
      std::vector<std::vector<float>> state(count, std::vector<float>(elements));
      cairn::detail::delta_base chain;
      for (int save = 0; save < 3; ++save) {
        for (auto& leaf : state)
          for (auto& x : leaf) x += normal(random);
        const auto leaves = cairn::detail::describe(state).leaves;
        const auto encoded = encode(leaves, cut(leaves, 3), rules, &chain, save > 0, is_serial ? 1 : threads);
        cairn::detail::stored_tables tables;
        for (const auto& shard : encoded)
          for (const auto& piece : shard) tables.insert(piece.tables.begin(), piece.tables.end());
        CHECK(tables.size() <= most_in_save);
        CHECK((save != 1 || !tables.empty()));
        CHECK(chain.tables().all().size() <= 64 + most_in_save);  // 64: those that the chain keeps
      }
    }
}

TEST_CASE("staged pieces are encoded over their copies where room and codec allow it, and are not changed themselves") {
  std::mt19937 random(5);
  const auto state = chain::start(random, 5000);
  const auto leaves = cairn::detail::describe(state).leaves;
  constexpr std::size_t room = 4096;
  for (const bool has_room : {true, false}) {
    auto shards = cut(leaves, 1);
    std::vector<std::vector<std::byte>> memory, real;
    for (auto& piece : shards[0]) {
      const auto bytes = piece.count * cairn::size_of(leaves[piece.leaf].type);
      cairn::detail::gather(leaves[piece.leaf], piece.first, real.emplace_back(bytes));
      if (bytes == 0) continue;
      auto& copy = memory.emplace_back(room + bytes);
      std::copy(real.back().begin(), real.back().end(), copy.begin() + room);
      piece.copy = copy.data() + room;
      piece.room = has_room ? room : 0;
    }
    const auto before = shards;
    const auto encoded = encode(leaves, shards, {{"net.weight", codecs::raw{}}, {"*", codecs::lossless{}}});
    std::size_t in_place = 0;
    for (std::size_t i = 0; i < shards[0].size(); ++i) {
      const auto &staged = shards[0][i], &old = before[0][i];
      CHECK((staged == old && staged.copy == old.copy && staged.room == old.room));
      const auto& piece = encoded[0][i];
      if (!piece.how) {  // the writer takes the copy
        CHECK(piece.bytes.data() == staged.copy);
        CHECK(std::equal(piece.bytes.begin(), piece.bytes.end(), real[i].begin(), real[i].end()));
        continue;
      }
      CHECK(decoded(leaves[piece.leaf], piece) == real[i]);
      CHECK(piece.memory.bytes().empty() == has_room);
      if (!has_room) continue;
      ++in_place;
      CHECK(piece.bytes.data() == staged.copy - staged.room);
    }
    CHECK((in_place > 0) == has_room);
  }
}

namespace {

/// A codec that may give more bytes than its bound.
struct greedy_codec {
  std::size_t claimed;
  std::size_t given;

  [[nodiscard]] std::string name() const { return "greedy"; }
  [[nodiscard]] bool uses_parent() const { return false; }
  [[nodiscard]] std::size_t bound(cairn::dtype, std::size_t) const { return claimed; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request&, std::span<std::byte>) const {
    return {.codec = "greedy", .bytes = given};
  }
  void decode(const cairn::decode_request&) const {}
};

}  // namespace

TEST_CASE("a codec that gives more bytes than its bound, or has a bound that no memory can have, is refused") {
  std::vector<float> values(100, 1.0F);
  const auto leaves = cairn::detail::describe(values).leaves;
  const auto failure_of = [&](greedy_codec codec) {
    return sample::failure_of([&] { encode(leaves, cut(leaves, 1), {{"*", codec}}); });
  };
  CHECK(failure_of({400, 401}).says("value: codec greedy gives 401 bytes, more than its bound of 400"));
  CHECK(failure_of({std::numeric_limits<std::size_t>::max(), 1}).code == cairn::errc::invalid);
  CHECK(failure_of({400, 400}).sentence.empty());
}

TEST_CASE("every leaf has the codec of its first rule; small leaves and those under raw are not encoded") {
  std::vector<cairn::detail::leaf> leaves(4);
  const char* const paths[] = {"net.weight", "net.bias", "adam.m", "step"};
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].path = paths[i];
    leaves[i].type = cairn::dtype::u8;
    leaves[i].shape = {i == 3 ? cairn::detail::least_encoded_bytes - 1 : cairn::detail::least_encoded_bytes};
  }
  cairn::codec_rules rules{
      {"*.bias", codecs::raw{}}, {"net.*", codecs::lossless{.xor_parent = true}}, {"adam.*", codecs::lossless{}}};
  const cairn::detail::leaf_codecs all(leaves, rules);
  const std::size_t expected[] = {1, 0, 2, 3};
  const bool encoded[] = {true, false, true, false};
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    INFO(leaves[i].path);
    CHECK(&all[i] == &cairn::detail::codec_of_rule(expected[i], rules));
    CHECK(all[i].uses_parent() == (i == 0));
    CHECK(all.is_encoded(i) == encoded[i]);
  }
  CHECK(all.use_parent());
  rules[1].pattern = "none";
  CHECK_FALSE(cairn::detail::leaf_codecs(leaves, rules).use_parent());
}

TEST_CASE("rules that are for no leaf are found: misspelled, or after one that takes all that they match") {
  const auto unmatched = [](const cairn::codec_rules& rules, std::vector<std::string> paths) {
    std::vector<cairn::detail::leaf> leaves(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) leaves[i].path = paths[i];
    return cairn::detail::leaf_codecs(leaves, rules).unmatched_rules();
  };
  const cairn::codec_rules rules{{"model.*", codecs::raw{}},
                                 {"model.layers.*", codecs::raw{}},
                                 {"optimiser.*", codecs::raw{}},
                                 {"optimizer.m", codecs::raw{}}};
  using patterns = std::vector<std::string>;
  CHECK(unmatched(rules, {"model.layers.0", "optimizer.m", "step"}) == patterns{"model.layers.*", "optimiser.*"});
  CHECK(unmatched(rules, {}).size() == 4);
  CHECK(unmatched({}, {"a"}).empty());
}
