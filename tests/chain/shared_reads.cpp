// SPDX-License-Identifier: MIT
#include "cairn/chain/shared_reads.hpp"

#include <random>

#include "bench/common/counting_store.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "ranks.hpp"
#include "save_as.hpp"

using cairn::read_sharing;

namespace {

using cairn::detail::read_request;

/// A chain of three checkpoints, and what the newest restores.
struct saved_chain {
  cairn::any_store store = cairn::stores::memory();
  std::string name;
  chain::bits values;

  saved_chain() = default;
  saved_chain(const cairn::codec_rules& rules, std::size_t parameters) {
    std::mt19937 random(5);
    auto state = chain::start(random, parameters);
    cairn::detail::delta_base base;
    for (int i = 0; i < 3; ++i) {
      chain::train(state, random);
      name = cairn::detail::checkpoint_name(state.step);
      tests::save_as(store, name, state, {.step = state.step, .shards = 2, .codecs = rules}, &base);
    }
    values = chain::restored(store, name);
  }
};

/// Reads all leaves at each of `ranks` ranks, and returns the bytes that these have read.
std::uint64_t bytes_read(const saved_chain& made, unsigned ranks, read_sharing how,
                         std::uint64_t least_measured = std::uint64_t{256} << 20U) {
  const bench::counting_store counted{made.store};
  const auto thrown = at_each(ranks, [&](const cairn::groups::threads& group) {
    cairn::detail::team team(group, std::chrono::seconds(20));
    const cairn::detail::chain_reader reader(cairn::any_store(counted), made.name);
    chain::bits found;
    std::vector<read_request> requests;
    for (std::size_t i = 0; i < reader.contents().leaves.size(); ++i) {
      const auto& leaf = reader.contents().leaves[i];
      auto& memory = found[leaf.path];
      memory.resize(leaf.bytes());
      requests.push_back({i, {leaf.type, leaf.shape, memory.data(), {}}});
    }
    cairn::detail::read_together(reader, requests, {.threads = 1}, how, team, least_measured);
    require(found == made.values, "other values");
  });
  CHECK(thrown == std::vector<std::string>(ranks));
  return counted.take_bytes();
}

}  // namespace

TEST_CASE("ranks that share the reads get all bytes, and read them once") {
  for (const auto& rules : {cairn::codec_rules{{"*", cairn::codecs::raw{}}}, chain::mixed_rules()}) {
    const saved_chain made(rules, 1'200'000);
    const auto once = bytes_read(made, 1, read_sharing::never);
    for (const unsigned ranks : {1U, 2U, 3U, 5U}) {
      INFO(ranks);
      CHECK(bytes_read(made, ranks, read_sharing::never) == ranks * once);
      CHECK(bytes_read(made, ranks, read_sharing::measured) == ranks * once);  // too few bytes for a measurement
      const auto shared = bytes_read(made, ranks, read_sharing::always);
      CHECK(shared < once + once / 5 + ranks * 100'000);
      CHECK(shared >= once - once / 20);
    }
  }
}

TEST_CASE("a measured restore gives all ranks the same bytes, whichever way wins") {
  struct large {
    std::vector<float> values;
  };
  large state{std::vector<float>(70'000'000)};  // above 256 MiB
  for (std::size_t i = 0; i < state.values.size(); i += 1000) state.values[i] = static_cast<float>(i);
  const std::uint64_t bytes = 4 * state.values.size();
  saved_chain made;
  made.name = "c";
  tests::save_as(made.store, made.name, state, {.step = 1, .codecs = {{"*", cairn::codecs::raw{}}}});
  const auto values = std::as_bytes(std::span(state.values));
  made.values["values"].assign(values.begin(), values.end());
  const auto read = bytes_read(made, 2, read_sharing::measured);
  CHECK(read > bytes);
  CHECK(read < 2 * bytes);
}

TEST_CASE("ranks that want other arrays, or share in other ways, read for themselves") {
  const saved_chain made(chain::mixed_rules(), 50'000);
  const auto weight = cairn::detail::chain_reader(made.store, made.name).contents().find("net.weight");
  const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
    const auto rank = group.rank();
    cairn::detail::team team(group, std::chrono::seconds(20));
    const cairn::detail::chain_reader reader(made.store, made.name);
    const auto read = [&](std::size_t leaf, read_sharing how) {
      const auto& stored = reader.contents().leaves[leaf];
      std::vector<std::byte> memory(stored.bytes());
      const read_request one[] = {{leaf, {stored.type, stored.shape, memory.data(), {}}}};
      cairn::detail::read_together(reader, one, {.threads = 1}, how, team);
      require(memory == made.values.at(stored.path), "other values");
    };
    read(rank, read_sharing::always);
    read(0, rank == 1 ? read_sharing::never : read_sharing::always);
    read(0, rank == 1 ? read_sharing::measured : read_sharing::always);
    // Strided memory and boxes are read by each rank itself.
    const auto& stored = reader.contents().leaves[weight];
    const auto count = cairn::element_count(stored.shape);
    std::vector<float> spread(2 * count), part(count / 2), all(count);
    const auto memory = [](std::vector<float>& of) { return reinterpret_cast<std::byte*>(of.data()); };
    const read_request mixed[] = {{weight, {stored.type, {count}, memory(spread), {8}}},
                                  {weight, {stored.type, {count / 2}, memory(part), {}}, std::nullopt, rank},
                                  {weight, {stored.type, {count}, memory(all), {}}}};
    cairn::detail::read_together(reader, mixed, {.threads = 2}, read_sharing::always, team);
    require(std::memcmp(all.data(), made.values.at("net.weight").data(), 4 * count) == 0, "other values");
    for (std::size_t i = 0; i < count; ++i) require(spread[2 * i] == all[i], "other strided values");
    for (std::size_t i = 0; i < count / 2; ++i) require(part[i] == all[i + rank], "another run");
  });
  CHECK(thrown == std::vector<std::string>(3));
}

TEST_CASE("the bytes of the samples are not read again, whichever way is faster") {
  const saved_chain made({{"*", cairn::codecs::raw{}}}, 2'000'000);
  const auto once = bytes_read(made, 1, read_sharing::never);
  const auto measured = bytes_read(made, 3, read_sharing::measured, 1);
  CHECK(measured < 3 * once);  // a sample is shared
  CHECK(measured > once);
}

TEST_CASE("what one rank cannot read, all report") {
  const saved_chain made(chain::mixed_rules(), 600'000);
  for (const auto how : {read_sharing::never, read_sharing::always}) {
    const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
      cairn::detail::team team(group, std::chrono::seconds(20));
      bool fails = false;
      const cairn::any_store store = hooked_store{made.store, {.before_open = [&](std::string_view, std::string_view) {
                                                    if (fails) cairn::fail(cairn::errc::io, {"a cable is out"});
                                                  }}};
      const cairn::detail::chain_reader reader(store, made.name);
      fails = group.rank() == 1;
      std::vector<std::vector<std::byte>> memory;
      std::vector<read_request> requests;
      for (std::size_t i = 0; i < reader.contents().leaves.size(); ++i) {
        const auto& leaf = reader.contents().leaves[i];
        memory.emplace_back(leaf.bytes());
        requests.push_back({i, {leaf.type, leaf.shape, memory.back().data(), {}}});
      }
      cairn::detail::read_together(reader, requests, {.threads = 1}, how, team);
    });
    CHECK_THAT(common(thrown), Catch::Matchers::ContainsSubstring("rank 1: a cable is out"));
  }
}

TEST_CASE("the state of one rank is known by its path") {
  cairn::detail::catalog contents;
  using entry = cairn::detail::structure_entry;
  contents.structure["rng"] = {entry::kind::ranks, 4, {}, {}};
  contents.structure["a.b"] = {entry::kind::ranks, 4, {}, {}};
  contents.structure["list"] = {entry::kind::size, 4, {}, {}};
  for (const auto* path : {"rng.rank0", "a.b.rank3.x", "rng.rank1.y.z"})
    CHECK(cairn::detail::is_rank_state(contents, path));
  for (const auto* path : {"", "rngs", "a", "a.bc.rank3", "list.0.x"})
    CHECK(!cairn::detail::is_rank_state(contents, path));
}
