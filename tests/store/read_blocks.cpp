// SPDX-License-Identifier: MIT
#include "cairn/store/reader.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cairn/store/memory.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/parallel.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

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
    checkpoint_spec spec;
    spec.leaves = leaves.list;
    write_checkpoint(store, "c", spec);
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

TEST_CASE("as many threads read as the file asks for, if the caller does not say how many") {
  /// Each thread waits in its first read for `most` threads, or until there can be no more.
  struct slow final : cairn::stores::source {
    slow(std::unique_ptr<cairn::stores::source> from, unsigned most) : file(std::move(from)), asked(most) {}
    [[nodiscard]] std::uint64_t size() const override { return file->size(); }
    void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
      file->read(offset, into);
      std::unique_lock lock(mutex);
      threads.insert(std::this_thread::get_id());
      came.notify_all();
      came.wait_for(lock, std::chrono::seconds(10), [&] { return threads.size() >= asked; });
    }
    [[nodiscard]] unsigned readers(std::uint64_t offset) const override {
      return offset > std::uint64_t{5} << 20 ? asked : 0;  // the beginning of the file is cached
    }
    std::unique_ptr<cairn::stores::source> file;
    unsigned asked;
    mutable std::mutex mutex;
    mutable std::condition_variable came;
    mutable std::set<std::thread::id> threads;
  };
  for (const bool verifies : {false, true}) {
    stored from(20 << 20);
    auto held = std::make_unique<slow>(std::move(from.shard().file), default_threads() + 2);
    const auto& file = *held;
    from.shard().file = std::move(held);
    std::vector<std::byte> memory(20 << 20);
    const memory_view all{cairn::dtype::u8, {memory.size()}, memory.data(), {}};
    const block_run runs[] = {{0, 0, 320}};
    if (verifies)
      verify_blocks(from.checkpoint, runs, 0);
    else
      read_blocks(from.checkpoint, {{0, 0, memory.size(), &all, 0}}, true, 0);
    CHECK(file.threads.size() == default_threads() + 2);
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
  const block_run runs[] = {{0, 0, 80}};
  verify_blocks(from.checkpoint, runs, 2);
  CHECK(from.reads->take() == 0);
  from.open();
  verify_blocks(from.checkpoint, std::vector<block_run>{{0, 1, 30}, {0, 0, 20}}, 2);
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
  const block_run runs[] = {{0, 0, 48}};
  CHECK(sample::failure_of([&] { verify_blocks(from.checkpoint, runs, 1); }).says("the 65536 bytes from byte"));
  CHECK_NOTHROW(read_blocks(from.checkpoint, {{0, 0, memory.size(), &all, 0}}, false, 1));
}
