// SPDX-License-Identifier: MIT
#include "cairn/store/reader.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/counting_store.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "catch.hpp"
#include "store/sample.hpp"
#include "write_checkpoint.hpp"

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

std::vector<cairn::detail::read_request> requests_for(const cairn::detail::stored_checkpoint& reader,
                                                      const sample::leaves& leaves) {
  std::vector<cairn::detail::read_request> requests;
  for (const auto& leaf : leaves.list) requests.push_back({reader.contents.find(leaf.path), leaf});
  return requests;
}

/// The elements of a leaf.
std::vector<std::byte> values_of(const cairn::detail::stored_checkpoint& reader, std::size_t leaf) {
  const auto& stored = reader.contents.leaves.at(leaf);
  std::vector<std::byte> values(stored.bytes());
  const cairn::detail::read_request one[] = {{leaf, {stored.type, stored.shape, values.data(), {}}}};
  cairn::detail::read_leaves(reader, one);
  return values;
}

}  // namespace

TEST_CASE("what is written is read: any leaves, division, store, threads") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    auto leaves = sample::random_leaves(random, 20, 5000);
    if (round % 4 == 0) leaves.add("large", static_cast<cairn::dtype>(round % 15), {1'300'000}, random);
    if (round % 5 == 0) leaves.add_strided("wide", cairn::dtype::f64, 200'000, random);
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(
        cairn::detail::divide_evenly(leaves.list, random() % 4 + 1));
    spec.info.step = random();
    spec.info.metrics["loss"] = 0.25;
    spec.structure["layers"] = {cairn::detail::structure::mapped_type::kind::size, 3, {}, {}};
    const sample::scratch scratch;
    cairn::any_store store = cairn::stores::memory();
    if (round % 2) store = cairn::stores::directory(scratch.path(), {.durable = round % 3 == 0});
    sample::write_checkpoint(store, "c", spec);

    const auto reader = cairn::detail::open_checkpoint(store, "c");
    CHECK(reader.index.info.step == spec.info.step);
    CHECK(reader.index.info.metrics == spec.info.metrics);
    CHECK(reader.contents.structure == spec.structure);
    CHECK(reader.contents.has_structure);
    CHECK(reader.contents.origin == store.location() + "/c");
    REQUIRE(reader.contents.leaves.size() == leaves.list.size());
    cairn::detail::verify(reader);

    const auto into = blank(leaves, random);
    const bool verify = random() % 2 == 0;
    cairn::detail::read_leaves(reader, requests_for(reader, into),
                               {.threads = static_cast<unsigned>(random() % 4), .verify = verify});
    for (std::size_t i = 0; i < leaves.list.size(); ++i) {
      CHECK(sample::packed(into.list[i]) == sample::packed(leaves.list[i]));
      CHECK(values_of(reader, reader.contents.find(leaves.list[i].path)) == sample::packed(leaves.list[i]));
    }
  }
}

TEST_CASE("every flipped bit of the data is found and named, and touches nothing if all is verified first") {
  std::mt19937_64 random(3);
  sample::leaves leaves;
  leaves.add("first", cairn::dtype::f32, {400'000}, random);
  leaves.add("second", cairn::dtype::f32, {400'000}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path(), {.durable = false});
  sample::write_checkpoint(store, "c", spec);
  const auto path = scratch.path("c/" + cairn::detail::shard_file(0, 1));
  const auto good = sample::slurp(path);
  for (int round = 0; round < 20; ++round) {
    auto bad = good;
    const auto at = 4096 + random() % (bad.size() - 4096);
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    sample::spill(path, bad);
    const auto reader = cairn::detail::open_checkpoint(store, "c");
    const auto into = blank(leaves, random);
    const auto before = sample::packed(into.list[0]), before_too = sample::packed(into.list[1]);
    const bool verifies_first = round % 2 == 0;
    const auto failure = sample::failure_of([&] {
      if (verifies_first) cairn::detail::verify(reader);
      cairn::detail::read_leaves(reader, requests_for(reader, into));
    });
    CHECK(failure.code == cairn::errc::corrupt);
    CHECK(failure.says(path));
    CHECK(failure.says(at < 4096 + 1'600'000 ? "first" : "second"));
    if (verifies_first) CHECK(sample::packed(into.list[0]) == before);
    if (verifies_first) CHECK(sample::packed(into.list[1]) == before_too);
    CHECK(sample::failure_of([&] { cairn::detail::verify(reader); }).code == cairn::errc::corrupt);
    CHECK_NOTHROW(cairn::detail::read_leaves(reader, requests_for(reader, into), {.threads = 0, .verify = false}));
  }
}

TEST_CASE("only what is read is verified") {
  std::mt19937_64 random(4);
  sample::leaves leaves;
  leaves.add("first", cairn::dtype::u8, {2 << 20}, random);
  leaves.add("second", cairn::dtype::u8, {2 << 20}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path(), {.durable = false});
  sample::write_checkpoint(store, "c", spec);
  const auto path = scratch.path("c/" + cairn::detail::shard_file(0, 1));
  auto bytes = sample::slurp(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  sample::spill(path, bytes);
  const auto reader = cairn::detail::open_checkpoint(store, "c");
  const auto into = blank(leaves, random);
  const cairn::detail::read_request one[] = {{0, into.list[0]}};
  CHECK_NOTHROW(cairn::detail::read_leaves(reader, one));
  CHECK(sample::packed(into.list[0]) == sample::packed(leaves.list[0]));
  const auto failure = sample::failure_of([&] { cairn::detail::verify(reader); });
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

  const auto reader =
      cairn::detail::open_checkpoint(cairn::stores::detail::open_file(scratch.path("model.safetensors")), "model");
  CHECK_FALSE(reader.contents.has_structure);
  CHECK(reader.index.info.step == 0);
  cairn::detail::verify(reader);
  sample::leaves into;
  into.add("odd", cairn::dtype::u8, {3}, random);
  into.add_strided("w", cairn::dtype::f64, count, random);
  cairn::detail::read_leaves(reader, requests_for(reader, into), {.threads = 32, .verify = true});
  CHECK(sample::text_of(sample::packed(into.list[0])) == text.substr(8 + length, 3));
  CHECK(sample::text_of(sample::packed(into.list[1])) == text.substr(8 + length + 3));
}

TEST_CASE("requests that do not fit are refused before anything is read") {
  std::mt19937_64 random(6);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::f32, {10}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  cairn::any_store store = cairn::stores::memory();
  sample::write_checkpoint(store, "c", spec);
  const auto reader = cairn::detail::open_checkpoint(store, "c");
  const auto code = [&](std::size_t leaf, cairn::dtype type, cairn::extents shape) {
    sample::leaves into;
    into.add("a", type, std::move(shape), random);
    const cairn::detail::read_request one[] = {{leaf, into.list[0]}};
    return sample::failure_of([&] { cairn::detail::read_leaves(reader, one); });
  };
  CHECK(code(0, cairn::dtype::f32, {5, 2}).sentence.empty());
  CHECK(code(0, cairn::dtype::f32, {11}).says("\"a\" is F32[10], the memory for it F32[11]"));
  CHECK(code(0, cairn::dtype::i32, {10}).code == cairn::errc::mismatch);
  CHECK(code(1, cairn::dtype::f32, {10}).code == cairn::errc::invalid);
}

TEST_CASE("encoded slices are listed with their bytes, verified, and not read as elements") {
  std::mt19937_64 random(9);
  sample::leaves leaves, payloads;
  leaves.add("w", cairn::dtype::f32, {1000}, random);
  const auto payload = payloads.add("", cairn::dtype::u8, {77}, random);
  const std::span<const std::byte> bytes(payload.memory, payload.bytes());
  const cairn::detail::encoding_info how{"mine", cairn::dtype::f32, {600}, true, {}};
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  const cairn::detail::stored_tables tables{{"00000000000000ff", std::string(256, '7')}};
  spec.shards = {{{{0, 600, 400}}}, {{{0, 0, 600}, bytes, &how, &tables}}};
  spec.info.step = 4;
  spec.parent = cairn::detail::checkpoint_ref{"step-000000003", 5};
  spec.id = 99;
  cairn::any_store store = cairn::stores::memory();
  CHECK(sample::write_checkpoint(store, "c", spec).id == 99);
  const auto reader = cairn::detail::open_checkpoint(store, "c");
  REQUIRE(reader.contents.leaves.size() == 1);
  CHECK(reader.contents.leaves[0].type == cairn::dtype::f32);
  CHECK(reader.contents.leaves[0].shape == cairn::extents{1000});
  CHECK(reader.index.parent == spec.parent);
  CHECK(cairn::detail::checkpoint_id(reader.index) == 99);
  CHECK(reader.shards.if_parsed(1) == nullptr);
  CHECK(reader.shards[0].metadata.tables.empty());
  CHECK(reader.shards[1].metadata.tables == tables);
  CHECK(reader.is_encoded(0));
  CHECK(reader.is_relative(0));
  const auto slices = reader.slices_of(0);
  REQUIRE(slices.size() == 2);
  REQUIRE(slices[0].encoded != nullptr);
  CHECK(*slices[0].encoded == how);
  CHECK(slices[1].encoded == nullptr);
  std::vector<std::byte> stored(slices[0].bytes);
  cairn::detail::read_stored(reader, slices[0].shard, slices[0].begin, stored);
  CHECK(sample::text_of(stored) == sample::text_of(bytes));
  CHECK(reader.shards[slices[0].shard].where.ends_with(cairn::detail::shard_file(1, 2)));
  const auto failure = sample::failure_of([&] { values_of(reader, 0); });
  CHECK(failure.code == cairn::errc::unsupported);
  CHECK(failure.says("\"w\""));
  CHECK(failure.says("\"mine\""));

  auto bad = sample::get(store, "c", cairn::detail::shard_file(1, 2));
  bad.back() = static_cast<char>(bad.back() ^ 1);
  sample::put(store, "c",
              {{cairn::detail::shard_file(0, 2), sample::get(store, "c", cairn::detail::shard_file(0, 2))},
               {cairn::detail::shard_file(1, 2), bad},
               {"index.json", sample::get(store, "c", "index.json")}});
  const auto damaged = cairn::detail::open_checkpoint(store, "c");
  const auto slice = damaged.slices_of(0)[0];
  CHECK(sample::failure_of([&] { cairn::detail::read_stored(damaged, slice.shard, slice.begin, stored); }).code ==
        cairn::errc::corrupt);
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
    sample::checkpoint_spec spec;
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
    sample::write_checkpoint(store, "c", spec);
    const auto reader = cairn::detail::open_checkpoint(store, "c");
    REQUIRE(reader.contents.leaves.size() == 1);
    CHECK(reader.contents.leaves[0].shape == whole.list[0].shape);
    cairn::detail::verify(reader);
    sample::leaves into;
    into.add("w", cairn::dtype::f32, {rows, columns}, random);
    into.add("w", cairn::dtype::f32, {rows * columns}, random);
    into.add_strided("w", cairn::dtype::f32, rows * columns, random);
    for (const auto& to : into.list) {
      const cairn::detail::read_request one[] = {{0, to}};
      cairn::detail::read_leaves(reader, one);
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
  sample::checkpoint_spec spec;
  spec.leaves = parts.list;
  cairn::any_store store = cairn::stores::memory();
  const auto failure = sample::failure_of([&] { sample::write_checkpoint(store, "c", spec); });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("hole at element [2, 0]"));
  CHECK(store.list().empty());
}

TEST_CASE("only the shards that are needed are opened") {
  std::mt19937_64 random(12);
  sample::leaves leaves;
  for (const auto* path : {"a", "b", "c"}) leaves.add(path, cairn::dtype::f32, {1000}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  spec.shards = {{{{0, 0, 1000}}}, {{{1, 0, 1000}}}, {{{2, 0, 1000}}}};
  const sample::scratch scratch;
  cairn::any_store store = cairn::stores::directory(scratch.path(), {.durable = false});
  sample::write_checkpoint(store, "c", spec);
  const auto reader = cairn::detail::open_checkpoint(store, "c");
  for (const std::size_t i : {1U, 2U}) std::filesystem::remove(scratch.path("c/" + cairn::detail::shard_file(i, 3)));
  CHECK(values_of(reader, 0) == sample::packed(leaves.list[0]));
  CHECK(sample::failure_of([&] { values_of(reader, 1); }).says("the index names it, but it is not there"));
  store.remove("c");
  CHECK(sample::failure_of([&] { values_of(reader, 1); }).code == cairn::errc::not_found);
}

using namespace cairn::detail;

namespace {

/// Counts the bytes that are read from a file.
class counted final : public cairn::stores::source {
 public:
  explicit counted(std::unique_ptr<cairn::stores::source> file) : file_(std::move(file)) {}
  [[nodiscard]] std::uint64_t size() const override { return file_->size(); }
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    file_->read(offset, into);
    const std::lock_guard lock(mutex_);
    for (const auto& each : into) bytes_ += each.size();
  }
  [[nodiscard]] std::uint64_t take() const { return std::exchange(bytes_, 0); }

 private:
  std::unique_ptr<cairn::stores::source> file_;
  mutable std::mutex mutex_;
  mutable std::uint64_t bytes_ = 0;
};

/// A checkpoint of one shard with one leaf of `bytes` random bytes.
struct stored {
  explicit stored(std::size_t bytes) {
    std::mt19937_64 random(7);
    leaves.add("w", cairn::dtype::u8, {bytes}, random);
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    sample::write_checkpoint(store, "c", spec);
    open();
  }
  void open() {
    checkpoint = open_checkpoint(store, "c");
    auto& shard = this->shard();
    auto counting = std::make_unique<counted>(std::move(shard.file));
    reads = counting.get();
    shard.file = std::move(counting);
  }
  [[nodiscard]] stored_shard& shard() const { return const_cast<stored_shard&>(checkpoint.shards[0]); }
  [[nodiscard]] std::string text(std::uint64_t begin, std::uint64_t end) const {
    return sample::text_of(sample::packed(leaves.list[0])).substr(begin, end - begin);
  }

  sample::leaves leaves;
  cairn::any_store store = cairn::stores::memory();
  stored_checkpoint checkpoint;
  const counted* reads = nullptr;
};

}  // namespace

TEST_CASE("any steps: contiguous and strided, in any order, overlapping, verified or not") {
  std::mt19937_64 random(1);
  stored from((3 << 20) + 12'345);
  const auto size = from.shard().header.data_bytes;
  for (int round = 0; round < 60; ++round) {
    if (round % 10 == 0) from.open();
    std::vector<cairn::detail::memory_view> views;
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::uint64_t> begins;
    const auto count = random() % 20 + 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t width = std::uint64_t{1} << random() % 4;
      const std::uint64_t elements = random() % (round % 3 == 0 ? 600'000 : 500) / width;
      const auto stride = round % 2 == 0 ? width : width + random() % 9;
      const auto type = std::array{cairn::dtype::u8, cairn::dtype::u16, cairn::dtype::f32, cairn::dtype::f64};
      begins.push_back(random() % (size - elements * width + 1));
      memory.emplace_back(elements * stride + 1);
      views.push_back({type[static_cast<std::size_t>(std::countr_zero(width))], {elements}, memory.back().data(), {}});
      if (stride != width) views.back().strides = {static_cast<std::int64_t>(stride)};
    }
    std::vector<read_step> steps;
    for (std::size_t i = 0; i < count; ++i) {
      const auto bytes = views[i].bytes(), middle = bytes == 0 ? 0 : random() % bytes;  // also within an element
      steps.push_back({0, begins[i] + middle, begins[i] + bytes, &views[i], middle});
      steps.push_back({0, begins[i], begins[i] + middle, &views[i], 0});
    }
    read_blocks(from.checkpoint, steps, random() % 2 == 0, static_cast<unsigned>(random() % 4));
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE(sample::text_of(sample::packed(views[i])) == from.text(begins[i], begins[i] + views[i].bytes()));
  }
}

TEST_CASE("no byte is read twice, and without a check only what is needed") {
  stored from(5 << 20);
  std::vector<std::byte> memory(5 << 20);
  const memory_view all{cairn::dtype::u8, {memory.size()}, memory.data(), {}};
  read_blocks(from.checkpoint, {{0, 0, memory.size(), &all, 0}}, true, 2);
  CHECK(from.reads->take() == memory.size());
  const read_step near{0, 100, 200, &all, 100}, next{0, 5000, 5100, &all, 5000}, far{0, 900'000, 900'100, &all, 0};
  read_blocks(from.checkpoint, {near, next, far}, true, 1);  // its block is verified
  CHECK(from.reads->take() == 5000 + 100);
  const read_task runs[] = {{0, 0, memory.size()}};
  verify_blocks(from.checkpoint, runs, 2);
  CHECK(from.reads->take() == 0);
  from.open();
  verify_blocks(from.checkpoint, std::vector<read_task>{{0, block_bytes, 30 * block_bytes}, {0, 0, 20 * block_bytes}},
                2);
  CHECK(from.reads->take() == 30 * block_bytes);
  read_blocks(from.checkpoint, {far}, false, 1);
  CHECK(from.reads->take() == 100);
  from.open();
  read_blocks(from.checkpoint, {near, far}, true, 1);
  CHECK(from.reads->take() == 2 * block_bytes);
  from.open();
  read_blocks(from.checkpoint,
              {{0, block_bytes - 1, block_bytes + 1, &all, 0}, {0, 3 * block_bytes, 3 * block_bytes + 1, &all, 9}},
              true, 1);
  CHECK(from.reads->take() == 3 * block_bytes);
}

TEST_CASE("a damaged block is named, whether its bytes are wanted or only checked") {
  stored from(3 << 20);
  from.shard().metadata.blocks[16] ^= 1;  // of the second MiB
  std::vector<std::byte> memory(3 << 20);
  const memory_view all{cairn::dtype::u8, {memory.size()}, memory.data(), {}};
  const auto block = [&](std::uint64_t number) {
    return sample::failure_of(
        [&] { read_blocks(from.checkpoint, {{0, number << 20, (number << 20) + 10, &all, 0}}, true, 1); });
  };
  CHECK(block(0).sentence.empty());
  CHECK(block(1).code == cairn::errc::corrupt);
  CHECK(block(1).says("the damage affects \"w\""));
  CHECK(block(2).sentence.empty());
  const read_task runs[] = {{0, 0, memory.size()}};
  CHECK(sample::failure_of([&] { verify_blocks(from.checkpoint, runs, 1); }).says("the 65536 bytes from byte"));
  CHECK_NOTHROW(read_blocks(from.checkpoint, {{0, 0, memory.size(), &all, 0}}, false, 1));
}

namespace {

/// Some arrays, in two shards.
struct stored_arrays {
  std::mt19937_64 random{1};
  sample::leaves leaves;
  bench::counting_store store{cairn::stores::memory()};

  stored_arrays(std::size_t count, std::uint64_t most_bytes) {
    for (std::size_t i = 0; i < count; ++i)
      leaves.add("a" + std::to_string(100 + i), cairn::dtype::u8, {1 + random() % most_bytes}, random);
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves.list, 2));
    cairn::any_store counted(store);
    sample::write_checkpoint(counted, "c", spec);
  }
};

}  // namespace

TEST_CASE("slices in order: each block is read once, and they have their bytes") {
  for (const std::uint64_t most : {900U, 100'000U, 3'000'000U}) {
    stored_arrays made(most > 1'000'000 ? 12 : 60, most);
    const auto reader = cairn::detail::open_checkpoint(cairn::any_store(made.store), "c");
    std::vector<cairn::detail::stored_slice> slices;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < made.leaves.list.size(); ++i)
      for (const auto& each : reader.slices_of(i)) slices.push_back(each);
    for (std::size_t i = 0; i < reader.shards.size(); ++i) bytes += reader.shards[i].header.data_bytes;
    static_cast<void>(made.store.take_bytes());
    cairn::detail::slice_window window({.threads = 1});
    for (const auto& slice : slices) {
      const auto found = window.move_to(reader, slice);
      REQUIRE(found.size() == slice.bytes);
      window.need(0, slice.bytes);
      const auto& leaf = made.leaves.list[slice.leaf];
      CHECK(std::equal(found.begin(), found.end(), leaf.memory + slice.first));
    }
    CHECK(made.store.take_bytes() == bytes);
  }
}

TEST_CASE("slices of two shards in turn, nearly in order: each block is read once") {
  stored_arrays made(400, 30'000);
  const auto reader = cairn::detail::open_checkpoint(cairn::any_store(made.store), "c");
  std::vector<cairn::detail::stored_slice> of_shard[2];
  for (std::size_t i = 0; i < made.leaves.list.size(); ++i)
    for (const auto& each : reader.slices_of(i)) of_shard[each.shard].push_back(each);
  static_cast<void>(made.store.take_bytes());
  cairn::detail::slice_window window({.threads = 1});
  const auto count = std::max(of_shard[0].size(), of_shard[1].size());
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& slices : of_shard) {
      if (i >= slices.size()) continue;
      const auto& slice = slices[std::min(i ^ 1U, slices.size() - 1)];  // neighbours in turn
      static_cast<void>(window.move_to(reader, slice));
      window.need(0, slice.bytes);
    }
  CHECK(made.store.take_bytes() == reader.shards[0].header.data_bytes + reader.shards[1].header.data_bytes);
}

TEST_CASE("slices in any order have the bytes that were needed") {
  const auto most = GENERATE(300'000U, 60'000U);
  stored_arrays made(40, most);
  const auto reader = cairn::detail::open_checkpoint(cairn::any_store(made.store), "c");
  cairn::detail::slice_window window({.threads = 2});
  for (int round = 0; round < 1000; ++round) {
    const auto slices = reader.slices_of(made.random() % made.leaves.list.size());
    const auto& slice = slices[made.random() % slices.size()];
    const auto found = window.move_to(reader, slice);
    const auto begin = made.random() % slice.bytes, end = begin + made.random() % (slice.bytes - begin + 1);
    window.need(begin, end);
    const auto* all = made.leaves.list[slice.leaf].memory + slice.first;
    CHECK(std::equal(found.begin() + static_cast<long>(begin), found.begin() + static_cast<long>(end), all + begin));
  }
}

TEST_CASE("a block that is damaged is reported where it is needed, and only there") {
  stored_arrays made(3, 400'000);
  cairn::any_store store(made.store);
  const auto file = cairn::detail::shard_file(0, 2);
  auto bytes = sample::get(store, "c", file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  sample::put(store, "c",
              {{file, bytes},
               {cairn::detail::shard_file(1, 2), sample::get(store, "c", cairn::detail::shard_file(1, 2))},
               {"index.json", sample::get(store, "c", "index.json")}});
  const auto reader = cairn::detail::open_checkpoint(store, "c");
  cairn::detail::slice_window window({.threads = 1});
  std::optional<cairn::detail::stored_slice> last;
  for (std::size_t i = 0; i < made.leaves.list.size(); ++i)
    for (const auto& each : reader.slices_of(i))
      if (each.shard == 0 && each.end() == reader.shards[0].header.data_bytes) last = each;
  REQUIRE(last);
  static_cast<void>(window.move_to(reader, *last));
  if (last->bytes > 70'000) window.need(0, 1);
  CHECK(sample::failure_of([&] { window.need(last->bytes - 1, last->bytes); }).code == cairn::errc::corrupt);
}
