// SPDX-License-Identifier: MIT
#include "cairn/store/reader.hpp"

#include <random>

#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/index.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

/// Memory like that of `leaf`, of other contents.
sample::leaves blank(const sample::leaves& like, std::mt19937_64& random) {
  sample::leaves made;
  for (const auto& leaf : like.list) {
    if (leaf.contiguous())
      made.add(leaf.path, leaf.type, leaf.shape, random);
    else
      made.add_strided(leaf.path, leaf.type, leaf.shape[0], random);
  }
  return made;
}

std::vector<cairn::detail::read_request> requests_for(const cairn::detail::checkpoint_reader& reader,
                                                      const sample::leaves& leaves) {
  std::vector<cairn::detail::read_request> requests;
  for (const auto& leaf : leaves.list) requests.push_back({reader.contents().find(leaf.path), leaf});
  return requests;
}

}  // namespace

TEST_CASE("what is written is read: any leaves, division, store, threads") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    auto leaves = sample::random_leaves(random, 20, 5000);
    if (round % 4 == 0) leaves.add("large", static_cast<cairn::dtype>(round % 15), {1'300'000}, random);
    if (round % 5 == 0) leaves.add_strided("wide", cairn::dtype::f64, 200'000, random);
    cairn::detail::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(
        cairn::detail::divide_evenly(leaves.list, random() % 4 + 1));
    spec.info.step = random();
    spec.info.metrics["loss"] = 0.25;
    spec.structure["layers"] = {cairn::detail::structure::mapped_type::kind::size, 3, {}, {}};
    const sample::scratch scratch;
    cairn::any_store store = cairn::stores::memory();
    if (round % 2) store = cairn::stores::directory(scratch.path(), {.durable = round % 3 == 0});
    cairn::detail::write_checkpoint(store, "c", spec);

    const cairn::detail::checkpoint_reader reader(store, "c");
    CHECK(reader.step() == spec.info.step);
    CHECK(reader.metrics() == spec.info.metrics);
    CHECK(reader.contents().structure == spec.structure);
    CHECK(reader.contents().has_structure);
    CHECK(reader.contents().origin == store.location() + "/c");
    REQUIRE(reader.contents().leaves.size() == leaves.list.size());
    reader.verify();

    const auto into = blank(leaves, random);
    const bool verify = random() % 2 == 0;
    reader.read(requests_for(reader, into), {.threads = static_cast<unsigned>(random() % 4), .verify = verify});
    for (std::size_t i = 0; i < leaves.list.size(); ++i) {
      CHECK(sample::packed(into.list[i]) == sample::packed(leaves.list[i]));
      std::vector<std::byte> fetched(leaves.list[i].bytes());
      reader.contents().fetch(reader.contents().find(leaves.list[i].path), fetched);
      CHECK(fetched == sample::packed(leaves.list[i]));
    }
  }
}

TEST_CASE("every flipped bit of the data is found and named, and touches nothing if all is verified first") {
  std::mt19937_64 random(3);
  sample::leaves leaves;
  leaves.add("first", cairn::dtype::f32, {400'000}, random);
  leaves.add("second", cairn::dtype::f32, {400'000}, random);
  cairn::detail::checkpoint_spec spec;
  spec.leaves = leaves.list;
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path(), {.durable = false});
  cairn::detail::write_checkpoint(store, "c", spec);
  const auto path = scratch.path("c/" + cairn::detail::shard_file(0, 1));
  const auto good = sample::slurp(path);
  for (int round = 0; round < 20; ++round) {
    auto bad = good;
    const auto at = 4096 + random() % (bad.size() - 4096);
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    sample::spill(path, bad);
    const cairn::detail::checkpoint_reader reader(store, "c");
    const auto into = blank(leaves, random);
    const auto before = sample::packed(into.list[0]), before_too = sample::packed(into.list[1]);
    const bool verifies_first = round % 2 == 0;
    const auto failure = sample::failure_of([&] {
      if (verifies_first) reader.verify();
      reader.read(requests_for(reader, into));
    });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says(path));
    CHECK(failure.says(at < 4096 + 1'600'000 ? "first" : "second"));
    if (verifies_first) CHECK(sample::packed(into.list[0]) == before);
    if (verifies_first) CHECK(sample::packed(into.list[1]) == before_too);
    CHECK(sample::failure_of([&] { reader.verify(); }).code == cairn::errc::corrupt);
    CHECK_NOTHROW(reader.read(requests_for(reader, into), {.threads = 0, .verify = false}));
  }
}

TEST_CASE("only what is read is verified") {
  std::mt19937_64 random(4);
  sample::leaves leaves;
  leaves.add("first", cairn::dtype::u8, {2 << 20}, random);
  leaves.add("second", cairn::dtype::u8, {2 << 20}, random);
  cairn::detail::checkpoint_spec spec;
  spec.leaves = leaves.list;
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path(), {.durable = false});
  cairn::detail::write_checkpoint(store, "c", spec);
  const auto path = scratch.path("c/" + cairn::detail::shard_file(0, 1));
  auto bytes = sample::slurp(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  sample::spill(path, bytes);
  const cairn::detail::checkpoint_reader reader(store, "c");
  const auto into = blank(leaves, random);
  const cairn::detail::read_request one[] = {{0, into.list[0]}};
  CHECK_NOTHROW(reader.read(one));
  CHECK(sample::packed(into.list[0]) == sample::packed(leaves.list[0]));
  const auto failure = sample::failure_of([&] { reader.verify(); });
  CHECK(failure.says("second"));
  CHECK(failure.says(std::to_string(4096 + (4 << 20) - cairn::detail::block_bytes)));
}

TEST_CASE("a file of others: unaligned data, elements across every boundary, strided memory") {
  std::mt19937_64 random(5);
  const std::size_t count = 300'000;
  std::string text(8, '\0');
  const auto offsets = [](std::size_t a, std::size_t b) {
    return "\"data_offsets\":[" + std::to_string(a) + "," + std::to_string(b) + "]}";
  };
  std::string header = R"({"odd":{"dtype":"U8","shape":[3],)" + offsets(0, 3) +
                       R"(,"w":{"dtype":"F64","shape":[300000],)" + offsets(3, 3 + 8 * count) + "}";
  const std::uint64_t length = header.size();
  std::memcpy(text.data(), &length, 8);
  text += header;
  for (std::size_t i = 0; i < 3 + 8 * count; ++i) text += static_cast<char>(random());
  const sample::scratch scratch;
  sample::spill(scratch.path("model.safetensors"), text);

  const cairn::detail::checkpoint_reader reader(cairn::stores::detail::open_file(scratch.path("model.safetensors")),
                                                "model");
  CHECK_FALSE(reader.contents().has_structure);
  CHECK(reader.step() == 0);
  reader.verify();
  sample::leaves into;
  into.add("odd", cairn::dtype::u8, {3}, random);
  into.add_strided("w", cairn::dtype::f64, count, random);
  reader.read(requests_for(reader, into), {.threads = 32, .verify = true});
  CHECK(sample::text_of(sample::packed(into.list[0])) == text.substr(8 + length, 3));
  CHECK(sample::text_of(sample::packed(into.list[1])) == text.substr(8 + length + 3));
}

TEST_CASE("requests that do not fit are refused before anything is read") {
  std::mt19937_64 random(6);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::f32, {10}, random);
  cairn::detail::checkpoint_spec spec;
  spec.leaves = leaves.list;
  cairn::any_store store = cairn::stores::memory();
  cairn::detail::write_checkpoint(store, "c", spec);
  const cairn::detail::checkpoint_reader reader(store, "c");
  const auto code = [&](std::size_t leaf, cairn::dtype type, cairn::extents shape) {
    sample::leaves into;
    into.add("a", type, std::move(shape), random);
    const cairn::detail::read_request one[] = {{leaf, into.list[0]}};
    return sample::failure_of([&] { reader.read(one); });
  };
  CHECK(code(0, cairn::dtype::f32, {5, 2}).sentence.empty());
  CHECK(code(0, cairn::dtype::f32, {11}).says("\"a\" is F32[10], the memory for it F32[11]"));
  CHECK(code(0, cairn::dtype::i32, {10}).code == cairn::errc::mismatch);
  CHECK(code(1, cairn::dtype::f32, {10}).code == cairn::errc::invalid);
  CHECK(sample::failure_of([&] { reader.contents().fetch(0, {}); }).code == cairn::errc::invalid);
}

TEST_CASE("encoded slices are listed with their bytes, verified, and not read as elements") {
  std::mt19937_64 random(9);
  sample::leaves leaves, payloads;
  leaves.add("w", cairn::dtype::f32, {1000}, random);
  const auto payload = payloads.add("", cairn::dtype::u8, {77}, random);
  const std::span<const std::byte> bytes(payload.memory, payload.bytes());
  const cairn::detail::encoding_info how{"mine", cairn::dtype::f32, {600}, true, {}};
  cairn::detail::checkpoint_spec spec;
  spec.leaves = leaves.list;
  const cairn::detail::stored_tables tables{{"00000000000000ff", std::string(256, '7')}};
  spec.shards = {{{{0, 600, 400}}}, {{{0, 0, 600}, bytes, &how, &tables}}};
  spec.info.step = 4;
  spec.parent = cairn::detail::checkpoint_ref{"step-000000003", 5};
  spec.id = 99;
  cairn::any_store store = cairn::stores::memory();
  CHECK(cairn::detail::write_checkpoint(store, "c", spec).id == 99);
  const cairn::detail::checkpoint_reader reader(store, "c");
  REQUIRE(reader.contents().leaves.size() == 1);
  CHECK(reader.contents().leaves[0].type == cairn::dtype::f32);
  CHECK(reader.contents().leaves[0].shape == cairn::extents{1000});
  REQUIRE(reader.parent() != nullptr);
  CHECK(*reader.parent() == *spec.parent);
  CHECK(reader.id() == 99);
  CHECK_FALSE(reader.is_parsed(1));
  CHECK(reader.tables_of(0).empty());
  CHECK(reader.tables_of(1) == tables);
  CHECK(reader.is_encoded(0));
  CHECK(reader.is_relative(0));
  const auto slices = reader.slices_of(0);
  REQUIRE(slices.size() == 2);
  REQUIRE(slices[0].encoded != nullptr);
  CHECK(*slices[0].encoded == how);
  CHECK(slices[1].encoded == nullptr);
  std::vector<std::byte> stored(slices[0].bytes);
  reader.read(slices[0], stored);
  CHECK(sample::text_of(stored) == sample::text_of(bytes));
  CHECK(reader.file_of(slices[0]).ends_with(cairn::detail::shard_file(1, 2)));
  std::vector<std::byte> memory(4000);
  const auto failure = sample::failure_of([&] { reader.contents().fetch(0, memory); });
  CHECK(failure.code == cairn::errc::unsupported);
  CHECK(failure.says("\"w\""));
  CHECK(failure.says("\"mine\""));

  auto bad = sample::get(store, "c", cairn::detail::shard_file(1, 2));
  bad.back() = static_cast<char>(bad.back() ^ 1);
  sample::put(store, "c",
              {{cairn::detail::shard_file(0, 2), sample::get(store, "c", cairn::detail::shard_file(0, 2))},
               {cairn::detail::shard_file(1, 2), bad},
               {"index.json", sample::get(store, "c", "index.json")}});
  const cairn::detail::checkpoint_reader damaged(store, "c");
  CHECK(sample::failure_of([&] { damaged.read(damaged.slices_of(0)[0], stored); }).code == cairn::errc::corrupt);
}

TEST_CASE("boxes of an array in any shards are read as the whole array") {
  std::mt19937_64 random(10);
  for (int round = 0; round < 40; ++round) {
    const std::uint64_t rows = random() % 40 + 4, columns = random() % 300 + 4;
    sample::leaves whole;
    whole.add("w", cairn::dtype::f32, {rows, columns}, random);
    const auto top = random() % (rows - 2) + 1, left = random() % (columns - 2) + 1;
    const cairn::detail::box boxes[] = {
        {{0, 0}, {top, columns}}, {{top, 0}, {rows - top, left}}, {{top, left}, {rows - top, columns - left}}};
    sample::leaves parts;
    cairn::detail::checkpoint_spec spec;
    spec.shards.resize(random() % 3 + 1);
    for (const auto& part : boxes) {
      auto& leaf = parts.add("w", cairn::dtype::f32, part.shape, random);
      leaf.place =
          std::make_shared<const cairn::detail::box_place>(cairn::detail::box_place{{rows, columns}, part.first});
      cairn::detail::gather(cairn::detail::view_of(whole.list[0], part), 0, {leaf.memory, leaf.bytes()});
      spec.shards[random() % spec.shards.size()].push_back({{parts.list.size() - 1, 0, leaf.count()}});
    }
    spec.leaves = parts.list;
    cairn::any_store store = cairn::stores::memory();
    cairn::detail::write_checkpoint(store, "c", spec);
    const cairn::detail::checkpoint_reader reader(store, "c");
    REQUIRE(reader.contents().leaves.size() == 1);
    CHECK(reader.contents().leaves[0].shape == whole.list[0].shape);
    reader.verify();
    sample::leaves into;
    into.add("w", cairn::dtype::f32, {rows, columns}, random);
    into.add("w", cairn::dtype::f32, {rows * columns}, random);
    into.add_strided("w", cairn::dtype::f32, rows * columns, random);
    for (const auto& to : into.list) {
      const cairn::detail::read_request one[] = {{0, to}};
      reader.read(one);
      CHECK(sample::packed(to) == sample::packed(whole.list[0]));
    }
  }
}

TEST_CASE("boxes that do not cover their array are not written") {
  std::mt19937_64 random(11);
  sample::leaves parts;
  for (const std::uint64_t first : {0U, 3U})
    parts.add("w", cairn::dtype::f32, {2, 1}, random).place =
        std::make_shared<const cairn::detail::box_place>(cairn::detail::box_place{{5, 1}, {first, 0}});
  cairn::detail::checkpoint_spec spec;
  spec.leaves = parts.list;
  cairn::any_store store = cairn::stores::memory();
  const auto failure = sample::failure_of([&] { cairn::detail::write_checkpoint(store, "c", spec); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("hole at element [2, 0]"));
  CHECK(store.list().empty());
}

TEST_CASE("only the shards that are needed are opened") {
  std::mt19937_64 random(12);
  sample::leaves leaves;
  for (const auto* path : {"a", "b", "c"}) leaves.add(path, cairn::dtype::f32, {1000}, random);
  cairn::detail::checkpoint_spec spec;
  spec.leaves = leaves.list;
  spec.shards = {{{{0, 0, 1000}}}, {{{1, 0, 1000}}}, {{{2, 0, 1000}}}};
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path(), {.durable = false});
  cairn::detail::write_checkpoint(store, "c", spec);
  const cairn::detail::checkpoint_reader reader(store, "c");
  for (const std::size_t i : {1U, 2U}) std::filesystem::remove(scratch.path("c/" + cairn::detail::shard_file(i, 3)));
  std::vector<std::byte> memory(4000);
  reader.contents().fetch(0, memory);
  CHECK(memory == sample::packed(leaves.list[0]));
  CHECK(
      sample::failure_of([&] { reader.contents().fetch(1, memory); }).says("the index names it, but it is not there"));
  store.remove("c");
  CHECK(sample::failure_of([&] { reader.contents().fetch(1, memory); }).code == cairn::errc::not_found);
}
