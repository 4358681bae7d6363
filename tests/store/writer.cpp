// SPDX-License-Identifier: MIT
#include "cairn/store/writer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "cairn/core/checksum.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/memory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"
#include "write_checkpoint.hpp"

namespace {

using seen = std::function<void(std::uint64_t, cairn::stores::buffer)>;

/// Has sinks of some alignment, and shows what is written to them.
struct watched {
  std::size_t unit;
  seen see;

  class transaction final : public cairn::stores::transaction, public cairn::stores::sink {
   public:
    transaction(std::size_t unit, seen see) : unit_(unit), see_(std::move(see)) {}
    cairn::stores::sink& create(std::string_view /*file*/, std::uint64_t /*bytes*/) override { return *this; }
    void publish() override {}
    void write(std::uint64_t offset, std::span<const cairn::stores::buffer> buffers) override {
      for (const auto& each : buffers) see_(offset, each);
    }
    [[nodiscard]] std::size_t alignment() const noexcept override { return unit_; }

   private:
    std::size_t unit_;
    seen see_;
  };

  [[nodiscard]] static std::string location() { return "watched"; }
  [[nodiscard]] static cairn::stores::ownership lock() { return {}; }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view /*name*/) const {
    return std::make_unique<transaction>(unit, see);
  }
  [[nodiscard]] static std::vector<std::string> list() { return {}; }
  [[nodiscard]] static std::shared_ptr<const cairn::stores::publication> open(std::string_view /*name*/) { return {}; }
  static void remove(std::string_view /*name*/) {}
};

std::map<std::string, std::string> written(cairn::any_store store, const sample::checkpoint_spec& spec) {
  std::uint64_t total = 0;
  const auto bytes = sample::write_checkpoint(store, "c", spec).bytes;
  std::map<std::string, std::string> files;
  for (const auto& file : store.open("c")->files()) total += (files[file] = sample::get(store, "c", file)).size();
  CHECK(total == bytes);
  return files;
}

}  // namespace

TEST_CASE("the same leaves give the same bytes, in every store and with any number of threads") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    auto leaves = sample::random_leaves(random, 8, 2000);
    leaves.add("large", cairn::dtype::f32, {700'000}, random);
    leaves.add_strided("strided", cairn::dtype::u16, 800'000, random);
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(
        cairn::detail::divide_evenly(leaves.list, random() % 3 + 1));
    spec.info.step = 5;
    spec.info.metrics["loss"] = 0.5;
    const auto first = written(cairn::stores::memory(), spec);
    const sample::scratch scratch;
    spec.threads = static_cast<unsigned>(random() % 5);
    CHECK(written(cairn::stores::directory(scratch.path("a")), spec) == first);
    CHECK(written(cairn::stores::directory(scratch.path("b"), {.durable = false}), spec) == first);

    std::shuffle(leaves.list.begin(), leaves.list.end(),
                 random);  // one shard: the order of leaves does not matter
    spec.shards = {};
    spec.leaves = leaves.list;
    const auto shuffled = written(cairn::stores::memory(), spec);
    std::shuffle(leaves.list.begin(), leaves.list.end(), random);
    CHECK(written(cairn::stores::memory(), spec) == shuffled);
  }
}

TEST_CASE("columns of records come out the same, gathered together in memory or one by one into files") {
  std::mt19937_64 random(6);
  constexpr std::uint64_t rows = 700'000, record = 24;
  sample::leaves records;
  auto& bytes = records.add("records", cairn::dtype::u8, {rows * record}, random);
  const auto column = [&](std::string path, cairn::dtype type, std::uint64_t offset) {
    cairn::detail::leaf made;
    made.path = std::move(path);
    made.type = type;
    made.shape = {rows};
    made.strides = {record};
    made.memory = bytes.memory + offset;
    return made;
  };
  const std::vector<cairn::detail::leaf> leaves{
      column("r.id", cairn::dtype::i64, 0), column("r.x", cairn::dtype::f32, 8), column("r.y", cairn::dtype::f32, 12),
      column("r.label", cairn::dtype::u16, 20)};
  for (const std::size_t shards : {1U, 3U}) {
    sample::checkpoint_spec spec;
    spec.leaves = leaves;
    spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves, shards));
    const sample::scratch scratch;
    CHECK(written(cairn::stores::memory(), spec) ==
          written(cairn::stores::directory(scratch.path(), {.durable = false}), spec));
  }
}

TEST_CASE("every block has its checksum in the header") {
  std::mt19937_64 random(2);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::f64, {300'000}, random);
  leaves.add("b", cairn::dtype::u8, {1'234'567}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  const auto files = written(cairn::stores::memory(), spec);
  const auto& shard = files.at(cairn::detail::shard_file(0, 1));
  std::uint64_t length = 0;
  std::memcpy(&length, shard.data(), 8);
  const auto data = sample::bytes_of(shard).subspan(8 + length);
  std::string expected = "\"cairn.blocks\":\"";
  for (std::size_t at = 0; at < data.size(); at += cairn::detail::block_bytes)
    cairn::detail::append_hex(expected, cairn::detail::checksum(data.subspan(
                                            at, std::min<std::size_t>(cairn::detail::block_bytes, data.size() - at))));
  CHECK(shard.find(expected + "\"") != std::string::npos);
  CHECK((8 + length) % 4096 == 0);
  CHECK(sample::text_of(data.first(2'400'000)) == sample::text_of(sample::packed(leaves.list[0])));
}

TEST_CASE("progress of a checkpoint that is written in parts counts all of them from the beginning") {
  std::mt19937_64 random(7);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::u8, {600'000}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  spec.threads = 1;
  std::vector<std::uint64_t> done, totals;
  spec.on_progress = [&](std::uint64_t bytes, std::uint64_t total) {
    done.push_back(bytes);
    totals.push_back(total);
  };
  cairn::any_store store = cairn::stores::memory();
  const auto shards =
      cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves.list, 3));
  cairn::detail::checkpoint_writer writer(store, "c", spec, shards.size());
  writer.begin();
  std::uint64_t later = 600'000;
  for (const auto& shard : shards) {
    later -= shard.front().count;
    writer.add(std::span(&shard, 1), later);
  }
  writer.commit();
  CHECK(done == std::vector<std::uint64_t>{200'000, 400'000, 600'000});
  CHECK(totals == std::vector<std::uint64_t>(3, 600'000));
}

TEST_CASE("as many threads write as are asked for") {
  std::mt19937_64 random(8);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::u8, {6 << 20}, random);
  for (const unsigned asked : {1U, 3U}) {
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.threads = asked;
    std::mutex mutex;
    std::condition_variable all_there;
    std::set<std::thread::id> seen;
    spec.on_progress = [&](std::uint64_t, std::uint64_t) {  // no thread takes a second block before all have one
      std::unique_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
      all_there.notify_all();
      all_there.wait_for(lock, std::chrono::seconds(10), [&] { return seen.size() >= asked; });
    };
    static_cast<void>(written(cairn::stores::memory(), spec));
    CHECK(seen.size() == asked);
  }
}

TEST_CASE("copies that adjoin are written from where they lie, where the sink can have them so; all else is copied") {
  std::mt19937_64 random(9);
  constexpr std::uint64_t mebibyte = 1U << 20U;
  sample::leaves leaves;
  for (const auto* path : {"a", "b", "c", "d"}) leaves.add(path, cairn::dtype::u8, {5 * mebibyte / 2}, random);
  cairn::detail::page_buffer memory(16 * mebibyte);
  const auto from = memory.bytes().data();
  for (const std::size_t alignment : {1U, 4096U}) {
    // a and b adjoin, c has none but its leaf's memory, d lies alone.
    const std::byte* const copies[] = {from, from + 5 * mebibyte / 2, nullptr, from + 8 * mebibyte + 7};
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    spec.threads = 1;
    spec.shards.emplace_back();
    for (std::size_t i = 0; i < leaves.list.size(); ++i) {
      const auto bytes = leaves.list[i].bytes();
      if (copies[i] != nullptr) std::memcpy(const_cast<std::byte*>(copies[i]), leaves.list[i].memory, bytes);
      spec.shards[0].push_back({{i, 0, bytes}, {copies[i], copies[i] == nullptr ? 0 : bytes}});
    }
    std::uint64_t in_place = 0;
    std::string text;
    cairn::any_store store = watched{alignment, [&](std::uint64_t offset, cairn::stores::buffer bytes) {
                                       CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0);
                                       text.resize(std::max<std::size_t>(text.size(), offset + bytes.size()));
                                       std::memcpy(text.data() + offset, bytes.data(), bytes.size());
                                       if (bytes.data() >= from && bytes.data() < from + memory.bytes().size())
                                         in_place += bytes.size();
                                     }};
    cairn::detail::checkpoint_writer writer(store, "c", spec, 1);
    writer.begin();
    writer.add(spec.shards);
    std::string expected;
    for (const auto& each : leaves.list) expected.append(reinterpret_cast<const char*>(each.memory), each.bytes());
    CHECK(text.substr(text.size() - expected.size()) == expected);
    // Of chunks of 256 KiB all but those of c; of 2 MiB, those that are of a and b alone.
    CHECK(in_place == (alignment == 1 ? 15 * mebibyte / 2 : 4 * mebibyte));
  }
}

TEST_CASE("what cannot be stored leaves nothing behind") {
  std::mt19937_64 random(4);
  const auto code = [&](std::vector<std::string> paths) {
    sample::leaves leaves;
    for (const auto& path : paths) leaves.add(path, cairn::dtype::f32, {10}, random);
    sample::checkpoint_spec spec;
    spec.leaves = leaves.list;
    cairn::any_store store = cairn::stores::memory();
    const auto failure = sample::failure_of([&] { sample::write_checkpoint(store, "c", spec); });
    CHECK(store.list().empty() == !failure.sentence.empty());
    return failure.sentence.empty() ? std::string("none") : failure.sentence;
  };
  CHECK(code({"a", "b"}) == "none");
  CHECK(code({}) == "none");
  CHECK(code({"a", "a"}).find("two leaves have the path \"a\"") != std::string::npos);
  CHECK(code({"__metadata__"}).find("__metadata__") != std::string::npos);
  CHECK(code({"a\xff"}).find("UTF-8") != std::string::npos);
}

TEST_CASE("a failing write leaves the older checkpoint as it was") {
  std::mt19937_64 random(5);
  sample::leaves leaves;
  leaves.add("a", cairn::dtype::f32, {1'000'000}, random);
  sample::checkpoint_spec spec;
  spec.leaves = leaves.list;
  cairn::any_store store = cairn::stores::memory();
  sample::write_checkpoint(store, "c", spec);
  const auto before = sample::get(store, "c", cairn::detail::shard_file(0, 1));
  leaves.list[0].memory[0] ^= std::byte{1};
  spec.on_progress = [](std::uint64_t, std::uint64_t) { cairn::fail(cairn::errc::io, {"no more room"}); };
  CHECK(sample::failure_of([&] { sample::write_checkpoint(store, "c", spec); }).says("no more room"));
  CHECK(sample::get(store, "c", cairn::detail::shard_file(0, 1)) == before);
  CHECK_NOTHROW(store.begin("c"));
}

namespace {

using cairn::detail::read_shard_record;
using cairn::detail::shard_record;
using cairn::detail::write_shard_record;

bool is_same(const shard_record& a, const shard_record& b) {
  const auto is_same_leaf = [](const cairn::detail::leaf& x, const cairn::detail::leaf& y) {
    return x.path == y.path && x.type == y.type && x.shape == y.shape && bool(x.place) == bool(y.place) &&
           (!x.place || (x.place->first == y.place->first && x.place->whole == y.place->whole));
  };
  return a.shards == b.shards && a.data_bytes == b.data_bytes && a.encoded == b.encoded &&
         std::equal(a.own.begin(), a.own.end(), b.own.begin(), b.own.end(), is_same_leaf) &&
         a.own_structure == b.own_structure && a.sample == b.sample;
}

TEST_CASE("a record reads back as it was written") {
  const double smallest = std::numeric_limits<double>::denorm_min(), infinite = std::numeric_limits<double>::infinity();
  const shard_record records[] = {
      {},
      {.shards = {{"shard-1", 7, ~std::uint64_t{0}}, {"a \"name\"", 0, 0}}, .data_bytes = 3},
      {.encoded = {{0, {"lossless", false, 9, {}}},
                   {1'000'000, {"lc2", true, 1, cairn::loss{smallest, infinite}}},
                   {3, {"lc3", false, 0, cairn::loss{0.1, 0}}}}}};
  for (const auto& each : records) CHECK(is_same(read_shard_record(write_shard_record(each), "a record"), each));
}

TEST_CASE("a record has what one rank alone has") {
  shard_record record;
  for (const auto* path : {"seed.rank1", "w", "\"quoted\""}) {
    auto& own = record.own.emplace_back();
    own.path = path;
    own.type = path[0] == 'w' ? cairn::dtype::f32 : cairn::dtype::u64;
    own.shape = {3, 0, 7};
  }
  record.own[1].place = std::make_shared<cairn::detail::box_place>(cairn::detail::box_place{{6, 0, 9}, {0, 0, 2}});
  record.sample = {0, ~std::uint64_t{0}, 7};
  record.own_structure["seed.rank1.list"] = {cairn::detail::structure_entry::kind::size, 3, "", {}};
  const auto read = read_shard_record(write_shard_record(record), "a record");
  CHECK(is_same(read, record));
  CHECK_FALSE(is_same(read, {}));
}

TEST_CASE("a record that is damaged names where it is from") {
  const auto text = write_shard_record({.shards = {{"shard-1", 7, 8}}});
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    CHECK_THROWS_WITH(read_shard_record(text.substr(0, bytes), "rank 3"),
                      Catch::Matchers::ContainsSubstring("cairn: rank 3"));
  shard_record own;
  own.own.emplace_back().path = "w";
  auto foreign = write_shard_record(own);
  const auto type = std::string(cairn::name(own.own[0].type));
  foreign.replace(foreign.find('"' + type + '"'), type.size() + 2, "\"C64\"");
  const auto failure = sample::failure_of([&] { std::ignore = read_shard_record(foreign, "rank 3"); });
  CHECK(failure.code == cairn::errc::corrupt);
  CHECK(failure.says("rank 3"));
  CHECK_THROWS_WITH(
      read_shard_record(R"({"shards":[],"data":1,"encoded":[],"own":[],"structure":{},"sample":[],"more":2})",
                        "rank 3"),
      Catch::Matchers::ContainsSubstring("cairn: rank 3"));
}

}  // namespace
