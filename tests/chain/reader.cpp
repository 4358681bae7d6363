// SPDX-License-Identifier: MIT
#include "cairn/chain/reader.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <vector>

#include <sys/resource.h>

#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/merge.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "gate.hpp"
#include "save_as.hpp"
#include "write_checkpoint.hpp"

using cairn::errc;

namespace {

/// Saves `state` as the next checkpoint of a chain.
cairn::save_report save(cairn::any_store& store, cairn::detail::delta_base& chain, const chain::state& state,
                        const cairn::codec_rules& rules = chain::mixed_rules(), std::size_t shards = 1) {
  return tests::save_as(store, cairn::detail::checkpoint_name(state.step), state,
                        {.threads = 2, .step = state.step, .shards = shards, .codecs = rules}, &chain);
}

/// A store with an anchor and `deltas` deltas at steps 1, 2, 3, ...
struct chain_of {
  cairn::any_store store = cairn::stores::memory();
  cairn::detail::delta_base chain;
  chain::state state;
  std::vector<std::map<std::string, cairn::loss>> lost;

  explicit chain_of(int deltas, std::size_t shards = 1) {
    std::mt19937 random(5);
    state = chain::start(random);
    for (int i = 0; i <= deltas; ++i) {
      chain::train(state, random);
      lost.push_back(save(store, chain, state, chain::mixed_rules(), shards).lost);
    }
  }
};

}  // namespace

TEST_CASE("every checkpoint of a chain restores what its writer keeps, bit for bit") {
  for (const std::size_t shards : {1U, 3U}) {
    const chain_of made(0, shards);
    auto store = cairn::any_store(cairn::stores::memory());
    cairn::detail::delta_base chain;
    std::mt19937 random(6);
    auto state = chain::start(random);
    std::vector<chain::bits> at_the_time;
    for (int i = 0; i < 8; ++i) {
      chain::train(state, random);
      const auto report = save(store, chain, state, chain::mixed_rules(), shards);
      CHECK(report.is_delta == (i > 0));
      CHECK(report.state_bytes > report.bytes / 2);
      const auto bits = chain::restored(store, cairn::detail::checkpoint_name(state.step));
      const auto real = chain::bits_of(state);
      for (const auto& [path, values] : real) {
        INFO(path << " at " << i);
        REQUIRE(bits.contains(path));
        const bool is_lossy = i > 0 && path.starts_with("net.");
        if (!is_lossy) CHECK(bits.at(path) == values);
        CHECK(report.lost.contains(path) == is_lossy);
      }
      for (const auto& leaf : cairn::detail::describe(state).leaves)
        if (const auto* kept = chain.find(leaf.path, leaf.type, leaf.shape)) {
          const auto bytes = kept->values.bytes();
          CHECK(std::equal(bytes.begin(), bytes.end(), bits.at(leaf.path).begin()));
        }
      at_the_time.push_back(bits);
    }
    for (std::uint64_t step = 1; step <= 8; ++step)
      CHECK(chain::restored(store, cairn::detail::checkpoint_name(step)) == at_the_time[step - 1]);
  }
}

TEST_CASE("a file records the loss of every leaf") {
  const chain_of made(3);
  const cairn::detail::chain_reader reader(made.store, cairn::detail::checkpoint_name(4));
  const auto real = made.state.net.weight;
  std::vector<float> restored(real.size());
  const auto index = reader.contents().find("net.weight");
  reader.contents().fetch(index, std::as_writable_bytes(std::span(restored)));
  double largest = 0, squares = 0, norm = 0;
  for (std::size_t i = 0; i < real.size(); ++i) {
    const double off = static_cast<double>(restored[i]) - static_cast<double>(real[i]);
    largest = std::max(largest, std::abs(off));
    squares += off * off;
    norm += static_cast<double>(real[i]) * static_cast<double>(real[i]);
  }
  const auto slices = reader.newest().slices_of(reader.contents().find("net.weight"));
  REQUIRE(slices.size() == 1);
  REQUIRE(slices[0].encoded->lost);
  CHECK(slices[0].encoded->lost == made.lost.back().at("net.weight"));
  CHECK(slices[0].encoded->lost->max_error == largest);
  CHECK(slices[0].encoded->lost->relative_l2 == Approx(std::sqrt(squares / norm)));
}

TEST_CASE("the error for a missing or replaced parent names it") {
  chain_of made(3);
  const auto open = [&](std::uint64_t step) {
    return sample::failure_of(
        [&] { const cairn::detail::chain_reader reader(made.store, cairn::detail::checkpoint_name(step)); });
  };
  CHECK(open(4).sentence.empty());
  const auto third = cairn::detail::checkpoint_name(3);
  chain::state other = made.state;
  other.step = 3;
  other.net.weight[0] += 1;
  cairn::detail::delta_base none;
  save(made.store, none, other);  // another checkpoint of that name
  auto failure = open(4);
  CHECK(failure.code == errc::corrupt);
  CHECK(failure.says(third));
  CHECK(failure.says(cairn::detail::checkpoint_name(4)));
  made.store.remove(third);
  failure = open(4);
  CHECK(failure.code == errc::corrupt);
  CHECK(failure.says(third));
  CHECK(failure.says("not there"));
  CHECK(open(2).sentence.empty());
}

TEST_CASE("a shard of a delta cannot be loaded alone") {
  const chain_of made(1);
  const auto name = cairn::detail::checkpoint_name(2);
  const auto failure = sample::failure_of([&] {
    const cairn::detail::chain_reader reader(made.store.open(name)->open(cairn::detail::shard_file(0, 1)),
                                             "lone.safetensors");
  });
  CHECK(failure.code == errc::unsupported);
  CHECK(failure.says("lone.safetensors"));
  const cairn::detail::chain_reader whole(
      made.store.open(cairn::detail::checkpoint_name(1))->open(cairn::detail::shard_file(0, 1)), "lone");
  CHECK(whole.contents().find("net.weight") != cairn::detail::catalog::npos);
}

TEST_CASE("damage in any link is reported before any value is written") {
  chain_of made(2);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    auto store = made.store;
    const auto name = cairn::detail::checkpoint_name(step), file = cairn::detail::shard_file(0, 1);
    const auto good = sample::get(store, name, file), index = sample::get(store, name, "index.json");
    auto bad = good;
    bad.back() = static_cast<char>(bad.back() ^ 1);
    sample::put(store, name, {{file, bad}, {"index.json", index}});
    const cairn::detail::chain_reader reader(store, cairn::detail::checkpoint_name(3));
    const auto failure = sample::failure_of([&] { reader.verify(); });
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says(name));
    sample::put(store, name, {{file, good}, {"index.json", index}});
  }
}

TEST_CASE("one call reads requests of all kinds") {
  const chain_of made(4, 2);
  const cairn::detail::chain_reader reader(made.store, cairn::detail::checkpoint_name(5));
  const auto bits = chain::restored(made.store, cairn::detail::checkpoint_name(5));
  std::vector<float> spread(2 * made.state.net.weight.size(), -1);
  std::vector<float> m(made.state.adam.m.size());
  std::uint64_t step = 0;
  const auto at = [&](const char* path) { return reader.contents().find(path); };
  const cairn::detail::read_request requests[] = {
      {at("net.weight"), {cairn::dtype::f32, {spread.size() / 2}, reinterpret_cast<std::byte*>(spread.data()), {8}}},
      {at("adam.m"), {cairn::dtype::f32, {m.size()}, reinterpret_cast<std::byte*>(m.data()), {}}},
      {at("step"), {cairn::dtype::u64, {}, reinterpret_cast<std::byte*>(&step), {}}}};
  reader.read(requests, {.threads = 2});
  CHECK(step == 5);
  CHECK(m == made.state.adam.m);
  const auto* weights = reinterpret_cast<const float*>(bits.at("net.weight").data());
  for (std::size_t i = 0; i < spread.size(); ++i) CHECK(spread[i] == (i % 2 == 0 ? weights[i / 2] : -1));
  const cairn::detail::read_request wrong[] = {
      {at("step"), {cairn::dtype::f64, {}, reinterpret_cast<std::byte*>(&step), {}}}};
  CHECK(sample::failure_of([&] { reader.read(wrong); }).code == errc::mismatch);
  const cairn::detail::read_request none[] = {{99, {}}};
  CHECK(sample::failure_of([&] { reader.read(none); }).code == errc::invalid);
}

TEST_CASE("any elements of a leaf can be read, however the links cut it") {
  cairn::any_store store = cairn::stores::memory();
  cairn::detail::delta_base chain;
  std::mt19937 random(8);
  auto state = chain::start(random, 3000);
  for (const std::size_t shards : {1U, 4U, 3U, 7U}) {
    chain::train(state, random);
    save(store, chain, state, chain::mixed_rules(), shards);
  }
  const cairn::detail::chain_reader reader(store, cairn::detail::checkpoint_name(state.step));
  CHECK(reader.links().size() == 4);
  CHECK(sample::failure_of([&] { reader.contents().fetch(0, {}); }).code == cairn::errc::invalid);
  for (std::size_t i = 0; i < reader.contents().leaves.size(); ++i) {
    const auto& leaf = reader.contents().leaves[i];
    const auto width = cairn::size_of(leaf.type), count = leaf.bytes() / width;
    std::vector<std::byte> all(leaf.bytes());
    reader.contents().fetch(i, all);
    for (int round = 0; round < 30; ++round) {
      const auto first = random() % (count + 1), some = random() % (count - first + 1);
      INFO(leaf.path << ", " << some << " elements from " << first);
      std::vector<std::byte> part(some * width);
      const cairn::detail::read_request all_of[] = {{i, {leaf.type, {some}, part.data(), {}}, std::nullopt, first}};
      reader.read(all_of);
      CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first * width)));
    }
  }
}

namespace {

/// A user's codec, which decodes whole payloads alone.
struct whole_only {
  cairn::codecs::lossless inner{.xor_parent = true};

  [[nodiscard]] static std::string name() { return "whole_only"; }
  [[nodiscard]] static bool uses_parent() { return true; }
  [[nodiscard]] std::size_t bound(cairn::dtype type, std::size_t bytes) const { return inner.bound(type, bytes); }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    auto made = inner.encode(in, out);
    if (!made.codec.empty()) made.codec = name();
    return made;
  }
  void decode(const cairn::decode_request& from) const {
    REQUIRE(from.read == nullptr);
    inner.decode({.where = from.where,
                  .path = from.path,
                  .type = from.type,
                  .payload = from.payload,
                  .values = from.values,
                  .relative = from.relative});
  }
};
static_assert(cairn::codec<whole_only> && !cairn::ranged_codec<whole_only>);

struct matrix_state {
  std::vector<std::array<float, 501>> rows;
  std::vector<float> counts;  // small: stored as it is
  std::uint64_t step = 0;
};

/// A delta is added to the parent's elements.
struct adding {
  [[nodiscard]] std::string name() const { return "adding"; }
  [[nodiscard]] bool uses_parent() const { return true; }
  [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& /*in*/, std::span<std::byte> /*out*/) const {
    return {};
  }
  void decode(const cairn::decode_request& from) const {
    for (std::size_t i = 0; i < from.values.size(); i += sizeof(float)) {
      float more = 0, value = 0;
      std::memcpy(&more, from.payload.data() + i, sizeof more);
      if (from.relative) std::memcpy(&value, from.values.data() + i, sizeof value);
      value += more;
      std::memcpy(from.values.data() + i, &value, sizeof value);
    }
  }
};

/// A link of a chain of matrices: cut into boxes, runs or not at all.
struct matrix_link {
  struct part {
    std::optional<cairn::detail::box> region;
    std::uint64_t first = 0, count = 0;
  };
  std::vector<part> parts;

  matrix_link(const cairn::extents& whole, std::mt19937& random) {
    const auto cut = [&](std::uint64_t extent) {  // ascending
      std::set<std::uint64_t> cuts{0, extent};
      for (auto more = random() % 3; more > 0; --more) cuts.insert(random() % extent);
      return std::vector(cuts.begin(), cuts.end());
    };
    const auto count = cairn::element_count(whole);
    if (random() % 3 == 0) {
      const auto runs = cut(count);
      for (std::size_t i = 0; i + 1 < runs.size(); ++i) parts.push_back({{}, runs[i], runs[i + 1] - runs[i]});
      return;
    }
    const auto rows = cut(whole[0]), columns = cut(whole[1]);
    for (std::size_t i = 0; i + 1 < rows.size(); ++i)
      for (std::size_t j = 0; j + 1 < columns.size(); ++j) {
        const cairn::detail::box region{{rows[i], columns[j]}, {rows[i + 1] - rows[i], columns[j + 1] - columns[j]}};
        parts.push_back({region, 0, region.count()});
      }
  }
};

}  // namespace

TEST_CASE("any box of a leaf can be read, however the links cut it and whatever codec they have") {
  std::mt19937 random(81);
  const std::vector<cairn::codec_rules> all_rules{
      {},
      {{"rows", cairn::codecs::lossless{.xor_parent = true}}},
      {{"rows", cairn::codecs::lc<3>{}}},
      {{"rows", whole_only{}}},
  };
  for (const auto& rules : all_rules)
    for (const std::size_t rows : {40U, 1500U}) {
      cairn::any_store store = cairn::stores::memory();
      cairn::detail::delta_base chain;
      matrix_state state{std::vector<std::array<float, 501>>(rows), std::vector<float>(300), 0};
      for (auto& row : state.rows)
        for (auto& each : row) each = std::normal_distribution<float>(0, 0.03F)(random);
      for (const std::size_t shards : {1U, 4U, 3U}) {
        ++state.step;
        for (std::size_t i = 0; i < rows * 50; ++i) state.rows[random() % rows][random() % 501] *= 1.001F;
        for (auto& each : state.counts) each = static_cast<float>(random());
        tests::save_as(store, cairn::detail::checkpoint_name(state.step), state,
                       {.step = state.step, .shards = shards, .codecs = rules}, &chain);
      }
      const cairn::detail::chain_reader reader(store, cairn::detail::checkpoint_name(state.step), rules);
      CHECK(reader.links().size() == (rules.empty() ? 1 : 3));
      const auto leaf = reader.contents().find("rows");
      REQUIRE(reader.contents().leaves[leaf].shape == cairn::extents{rows, 501});
      std::vector<float> all(rows * 501);
      reader.contents().fetch(leaf, std::as_writable_bytes(std::span(all)));
      if (rules.empty()) CHECK(std::memcmp(all.data(), state.rows.data(), all.size() * sizeof(float)) == 0);
      for (int round = 0; round < 12; ++round) {
        const cairn::extents first{random() % rows, random() % 501};
        const cairn::extents shape{random() % (rows - first[0] + 1), random() % (501 - first[1] + 1)};
        std::vector<float> part(shape[0] * shape[1], -1), counts(300), spread(2 * part.size(), -1);
        const auto memory = [](std::vector<float>& of) { return reinterpret_cast<std::byte*>(of.data()); };
        const auto row = static_cast<std::int64_t>(8 * shape[1]);
        const cairn::detail::read_request requests[] = {
            {leaf, {cairn::dtype::f32, shape, memory(spread), {row, 8}}, cairn::detail::box{first, shape}},
            {reader.contents().find("counts"), {cairn::dtype::f32, {300}, memory(counts), {}}},
            {leaf, {cairn::dtype::f32, shape, memory(part), {}}, cairn::detail::box{first, shape}}};
        reader.read(std::span(requests).subspan(part.empty() ? 1 : 0), {.threads = round % 2 == 0 ? 1U : 3U});
        CHECK(counts == state.counts);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < part.size(); ++i) {
          const auto expected = all[(first[0] + i / shape[1]) * 501 + first[1] + i % shape[1]];
          wrong += part[i] != expected || spread[2 * i] != expected || spread[2 * i + 1] != -1;
        }
        CHECK(wrong == 0);
      }
    }
}

TEST_CASE("any boxes of a chain are read, however the links cut the array") {
  const cairn::codec_rules rules{{"*", adding{}}};
  const cairn::extents whole{9, 11};
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    auto store = cairn::any_store(cairn::stores::memory());
    std::vector<float> wanted(cairn::element_count(whole));
    std::optional<cairn::detail::checkpoint_ref> parent;
    for (std::uint64_t step = 1; step <= 4; ++step) {
      const matrix_link link(whole, random);
      std::vector<cairn::detail::leaf> leaves;
      std::deque<std::vector<float>> payloads;
      std::deque<cairn::detail::encoding_info> codecs;
      cairn::detail::shards_of<cairn::detail::write_piece> shards;
      for (const auto& each : link.parts) {
        if (leaves.empty() || each.region) {
          auto& made = leaves.emplace_back();
          made.path = "w";
          made.type = cairn::dtype::f32;
          made.shape = each.region ? each.region->shape : whole;
          if (each.region)
            made.place =
                std::make_shared<cairn::detail::box_place>(cairn::detail::box_place{whole, each.region->first});
        }
        const bool is_relative = step > 1 && random() % 4 != 0;
        auto& payload = payloads.emplace_back();
        for (std::uint64_t i = 0; i < each.count; ++i) payload.push_back(static_cast<float>(random() % 100));
        const auto shape = each.region ? each.region->shape : cairn::extents{each.count};
        const bool is_all = each.count == wanted.size();
        codecs.push_back({"adding", cairn::dtype::f32, is_all ? whole : shape, is_relative, {}});
        shards.push_back({{{leaves.size() - 1, each.first, each.count},
                           std::as_bytes(std::span(payload)),
                           &codecs.back(),
                           nullptr}});
        std::uint64_t i = 0;
        const auto add = [&](std::uint64_t at) { wanted[at] = payload[i++] + (is_relative ? wanted[at] : 0); };
        if (!each.region)
          for (auto at = each.first; at < each.first + each.count; ++at) add(at);
        else
          for (auto row = each.region->first[0]; row < each.region->first[0] + each.region->shape[0]; ++row)
            for (auto at = each.region->first[1]; at < each.region->first[1] + each.region->shape[1]; ++at)
              add(row * whole[1] + at);
      }
      const auto name = cairn::detail::checkpoint_name(step);
      const auto made =
          sample::write_checkpoint(store, name, {{.leaves = leaves, .info = {.step = step}}, shards, parent});
      parent = cairn::detail::checkpoint_ref{name, made.id};
    }
    const cairn::detail::chain_reader reader(store, parent->name, rules);
    for (int reads = 0; reads < 20; ++reads) {
      cairn::detail::box region{{random() % whole[0], random() % whole[1]}, {}};
      for (std::size_t d = 0; d < 2; ++d) region.shape.push_back(1 + random() % (whole[d] - region.first[d]));
      std::vector<float> read(region.count()), expected;
      for (auto row = region.first[0]; row < region.first[0] + region.shape[0]; ++row)
        for (auto at = region.first[1]; at < region.first[1] + region.shape[1]; ++at)
          expected.push_back(wanted[row * whole[1] + at]);
      const cairn::detail::read_request request{
          0, {cairn::dtype::f32, region.shape, reinterpret_cast<std::byte*>(read.data()), {}}, region};
      reader.read(std::span(&request, 1));
      CHECK(read == expected);
    }
    // Merged, it restores the same.
    const auto bits = chain::restored(store, parent->name, rules);
    cairn::merge_checkpoints(store, parent->name, {.deltas = 1 + random() % 3, .codecs = rules});
    CHECK(chain::restored(store, parent->name, rules) == bits);
    cairn::merge_checkpoints(store, parent->name, {.codecs = rules});
    CHECK(chain::restored(store, parent->name, rules) == bits);
  }
}

TEST_CASE("a malformed payload or code table with correct checksums is an error that names leaf and file") {
  std::mt19937_64 random(8);
  sample::leaves leaves, payloads;
  leaves.add("net.weight", cairn::dtype::f32, {500}, random);
  const auto put = [&](const std::string& codec, std::uint64_t bytes, const std::string& table) {
    const auto payload = payloads.add("", cairn::dtype::u8, {bytes}, random);
    const cairn::detail::encoding_info how{codec, cairn::dtype::f32, {500}, false, {}};
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    const cairn::detail::stored_tables tables{{"0123456789abcdef", table}};
    spec.shards = {{{{0, 0, 500}, {payload.memory, payload.bytes()}, &how, table.empty() ? nullptr : &tables}}};
    cairn::any_store store = cairn::stores::memory();
    sample::write_checkpoint(store, "c", spec);
    return store;
  };
  for (const auto* codec : {"lossless", "lc2", "lc3", "raw"})
    for (const std::uint64_t bytes : {1U, 40U, 1900U}) {
      INFO(codec << ", " << bytes);
      const auto failure = sample::failure_of([&] { static_cast<void>(chain::restored(put(codec, bytes, ""), "c")); });
      CHECK(failure.code == errc::corrupt);
      CHECK(failure.says("net.weight"));
      CHECK(failure.says(cairn::detail::shard_file(0, 1)));
    }
  const auto unknown = sample::failure_of([&] { static_cast<void>(chain::restored(put("mine", 40, ""), "c")); });
  CHECK(unknown.code == errc::unsupported);
  CHECK(unknown.says("\"mine\""));
  for (const auto& table : {std::string("12"), std::string(256, 'x'), std::string(256, '8')}) {
    const auto failure = sample::failure_of([&] { static_cast<void>(chain::restored(put("raw", 2000, table), "c")); });
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says("0123456789abcdef"));
  }
}

TEST_CASE("a delta is merged, and its parent removed, while it is opened") {
  tests::gated_store store;
  std::mt19937 random(21);
  auto state = chain::start(random, 800);
  cairn::detail::delta_base chain;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    chain::train(state, random);
    tests::save_as(store.inner, cairn::detail::checkpoint_name(step), state,
                   {.step = step, .codecs = chain::mixed_rules()}, &chain);
  }
  const auto expected = chain::restored(store.inner, cairn::detail::checkpoint_name(3));
  bool is_merged = false;
  store.opened = [&](std::string_view name, std::string_view file) {
    if (name != cairn::detail::checkpoint_name(3) || file == cairn::detail::index_file ||
        std::exchange(is_merged, true))
      return;
    cairn::merge_checkpoints(store.inner, cairn::detail::checkpoint_name(3), {.deltas = 2});
    store.inner.remove(cairn::detail::checkpoint_name(2));
  };
  CHECK(chain::restored(cairn::any_store(store), cairn::detail::checkpoint_name(3)) == expected);
  CHECK(is_merged);
}

TEST_CASE("a delta whose parent is not older is refused") {
  std::mt19937_64 random(9);
  sample::leaves leaves;
  const auto& weight = leaves.add("net.weight", cairn::dtype::f32, {500}, random);
  const cairn::detail::encoding_info relative{"lossless", cairn::dtype::f32, {500}, true, {}};
  cairn::any_store store = cairn::stores::memory();
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  spec.info.step = 7;
  const auto parent = sample::write_checkpoint(store, "parent", spec).id;
  spec.shards = {{{{0, 0, 500}, {weight.memory, weight.bytes()}, &relative}}};
  spec.parent = cairn::detail::checkpoint_ref{"parent", parent};
  for (const std::uint64_t step : {6U, 7U, 8U}) {
    spec.info.step = step;
    sample::write_checkpoint(store, "child", spec);
    const auto failure = sample::failure_of([&] { const cairn::detail::chain_reader reader(store, "child"); });
    CHECK(failure.sentence.empty() == (step > 7));
    if (step > 7) continue;
    CHECK(failure.code == errc::corrupt);
    CHECK(failure.says("is built on parent, which is not older"));
  }
}

TEST_CASE("a long chain is loaded with few open files") {
  const sample::scratch scratch(sample::in_memory());
  cairn::any_store store = cairn::stores::directory(scratch.path(), {.durable = false});
  std::mt19937 random(31);
  auto state = chain::start(random, 100);
  cairn::detail::delta_base chain;
  for (int i = 0; i <= 100; ++i) {
    chain::train(state, random);
    save(store, chain, state);
  }
  const auto newest = cairn::detail::checkpoint_name(state.step);
  CHECK(cairn::detail::chain_reader(store, newest).links().size() == 101);
  const auto expected = chain::restored(store, newest);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{64, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  chain::bits found;
  const auto failure = sample::failure_of([&] {
    found = chain::restored(store, newest);
    cairn::merge_checkpoints(store, newest, {});
  });
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(failure.sentence.empty());
  CHECK(found == expected);
  CHECK(chain::restored(store, newest) == expected);
  CHECK(cairn::detail::chain_reader(store, newest).links().size() == 1);
}
