// SPDX-License-Identifier: MIT
#include "cairn/store/file_pool.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "catch.hpp"
#include "store/sample.hpp"

using namespace cairn::detail;

namespace {

/// Files whose bytes are their numbers.
struct counted_files {
  std::atomic<int> opened{0}, open{0}, most_open{0};
  std::atomic<bool> fails{false};

  struct file final : cairn::stores::source {
    file(counted_files& all, std::byte with) : of(all), byte(with) {
      const int now = ++of.open;
      for (int most = of.most_open; most < now && !of.most_open.compare_exchange_weak(most, now);) continue;
    }
    ~file() override { --of.open; }
    [[nodiscard]] std::uint64_t size() const override { return 10; }
    void read(std::uint64_t, std::span<const std::span<std::byte>> into) const override {
      for (const auto& each : into) std::fill(each.begin(), each.end(), byte);
    }
    counted_files& of;
    std::byte byte;
  };

  std::unique_ptr<pooled_file> make(const std::shared_ptr<file_pool>& pool, unsigned number) {
    return std::make_unique<pooled_file>(pool, [this, number] {
      ++opened;
      if (fails) cairn::fail(cairn::errc::io, {"not now"});
      return std::make_unique<file>(*this, static_cast<std::byte>(number));
    });
  }
};

unsigned first_byte(const cairn::stores::source& file) {
  std::byte byte{255};
  file.read(0, std::span(&byte, 1));
  return static_cast<unsigned>(byte);
}

}  // namespace

TEST_CASE("a pool keeps as many files open as it may, and opens the others again") {
  counted_files files;
  const auto pool = std::make_shared<file_pool>(3);
  std::vector<std::unique_ptr<pooled_file>> all;
  for (unsigned i = 0; i < 10; ++i) {
    all.push_back(files.make(pool, i));
    CHECK(all.back()->size() == 10);
  }
  CHECK(files.open == 3);
  CHECK(pool->open() == 3);
  for (const unsigned i : {7U, 8U, 9U, 7U}) CHECK(first_byte(*all[i]) == i);
  CHECK(files.opened == 10);
  for (const unsigned i : {0U, 7U, 9U, 1U, 7U, 9U}) CHECK(first_byte(*all[i]) == i);  // 8, then 0 are closed
  CHECK(files.most_open == 3);
  all.erase(all.begin() + 7);
  CHECK(files.open == 2);
  all.clear();
  CHECK(files.open == 0);
  CHECK(pool->open() == 0);
}

TEST_CASE("a file that cannot be opened takes no place, and is tried again") {
  counted_files files;
  const auto pool = std::make_shared<file_pool>(1);
  const auto a = files.make(pool, 1);
  files.fails = true;
  CHECK(sample::failure_of([&] { files.make(pool, 2); }).code == cairn::errc::io);
  CHECK(sample::failure_of([&] { first_byte(*a); }).code == cairn::errc::io);
  CHECK(pool->open() == 0);
  files.fails = false;
  CHECK(first_byte(*a) == 1);
  CHECK(files.open == 1);
}

TEST_CASE("many threads read files of one pool") {
  counted_files files;
  const auto pool = std::make_shared<file_pool>(2);
  std::vector<std::unique_ptr<pooled_file>> all;
  for (unsigned i = 0; i < 20; ++i) all.push_back(files.make(pool, i));
  constexpr unsigned threads = 8;
  std::vector<std::jthread> readers;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < threads; ++t)
    readers.emplace_back([&, t] {
      for (unsigned n = 0; n < 500; ++n)
        if (const auto i = (n * (t + 1) + t) % 20; first_byte(*all[i]) != i) ++wrong;
    });
  readers.clear();
  CHECK(wrong == 0);
  CHECK(files.most_open <= static_cast<int>(threads) + 2);
  CHECK(first_byte(*all[0]) == 0);
  CHECK(first_byte(*all[1]) == 1);
  CHECK(files.open == 2);
}

TEST_CASE("a pool takes a part of what the process may open") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto with_limit = [&](rlim_t files) {
    const rlimit few{files, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    return file_pool().most();
  };
  const auto of_few = with_limit(64), of_none = with_limit(3);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(of_few == 16);
  CHECK(of_none == 1);
  CHECK(file_pool().most() <= 128);
  CHECK(file_pool(0).most() == 1);
}
