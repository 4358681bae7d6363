// SPDX-License-Identifier: MIT
#include "cairn/group/threads.hpp"

#include <cstring>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "catch.hpp"

using cairn::groups::started;
using cairn::groups::threads;

namespace {

std::vector<std::uint64_t> numbers_of(const started& of) {
  std::vector<std::uint64_t> numbers(of->result().size() / sizeof(std::uint64_t));
  std::memcpy(numbers.data(), of->result().data(), of->result().size());
  return numbers;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::vector<std::byte> message(std::string_view text) { return {bytes_of(text).begin(), bytes_of(text).end()}; }

std::string_view text_of(const started& of) {
  return {reinterpret_cast<const char*>(of->result().data()), of->result().size()};
}

TEST_CASE("an operation is complete when all ranks have started it") {
  auto ranks = threads::make(3);
  std::vector<started> all;
  for (auto& rank : ranks) {
    CHECK(rank.size() == 3);
    for (const auto& each : all) CHECK_FALSE(each->test());
    const std::uint64_t mine[] = {rank.rank(), 2 - rank.rank(), 7};
    all.push_back(rank.start_max(mine));
  }
  for (const auto& each : all) {
    CHECK(each->test());
    CHECK(each->test());
    CHECK(numbers_of(each) == std::vector<std::uint64_t>{2, 2, 7});
  }
}

TEST_CASE("operations may overlap, and complete in any order of calls") {
  auto ranks = threads::make(2);
  const auto first = ranks[0].start_broadcast(bytes_of("abc"), 3, 0);
  const auto second = ranks[0].start_gather(bytes_of("x"), 1);
  const auto first_of_1 = ranks[1].start_broadcast({}, 3, 0);
  CHECK(first_of_1->test());
  CHECK(text_of(first_of_1) == "abc");
  CHECK_FALSE(second->test());
  const auto second_of_1 = ranks[1].start_gather(bytes_of("y"), 1);
  CHECK(second->test());
  CHECK(text_of(second).empty());
  CHECK(second_of_1->test());
  CHECK(text_of(second_of_1) == "xy");
  CHECK(first->test());
  CHECK(text_of(first) == "abc");
}

TEST_CASE("between two ranks the n-th receipt gets the n-th message") {
  auto ranks = threads::make(3);
  const auto late = ranks[2].start_receive(3, 0, 0), from_1 = ranks[2].start_receive(1, 1, 0);
  CHECK_FALSE(late->test());
  CHECK(ranks[0].start_send(message("abc"), 2, 0)->test());
  CHECK(ranks[0].start_send(message("de"), 2, 0)->test());
  CHECK(ranks[1].start_send(message("x"), 2, 0)->test());
  const auto second = ranks[2].start_receive(2, 0, 0), other_size = ranks[1].start_receive(5, 0, 0);
  CHECK(second->test());  // in any order of calls
  CHECK(text_of(second) == "de");
  CHECK(late->test());
  CHECK(text_of(late) == "abc");
  CHECK(from_1->test());
  CHECK(text_of(from_1) == "x");
  static_cast<void>(ranks[0].start_send(message("four"), 1, 0));
  CHECK_THROWS_AS(other_size->test(), cairn::error);
  const auto on_1 = ranks[1].start_receive(1, 2, 1), on_0 = ranks[1].start_receive(1, 2, 0);
  static_cast<void>(ranks[2].start_send(message("0"), 1, 0));
  CHECK_FALSE(on_1->test());
  CHECK(on_0->test());
  const auto never = ranks[1].start_receive(1, 0, 0);
  ranks.erase(ranks.begin());
  CHECK_THROWS_WITH(never->test(), "cairn: rank 0 has ended");
}

TEST_CASE("ranks that start different operations all get an error") {
  auto ranks = threads::make(2);
  const std::uint64_t number[] = {1};
  std::vector<started> all;
  SECTION("another operation") {
    all.push_back(ranks[0].start_max(number));
    all.push_back(ranks[1].start_broadcast(bytes_of("12345678"), 8, 0));
  }
  SECTION("another size") {
    all.push_back(ranks[0].start_gather(bytes_of("a"), 0));
    all.push_back(ranks[1].start_gather(bytes_of("ab"), 0));
  }
  SECTION("another root") {
    all.push_back(ranks[0].start_broadcast(bytes_of("a"), 1, 0));
    all.push_back(ranks[1].start_broadcast(bytes_of("a"), 1, 1));
  }
  for (const auto& each : all) CHECK_THROWS_AS(each->test(), cairn::error);
}

TEST_CASE("a rank that has ended is an error where an operation needs it, and in no other") {
  auto ranks = threads::make(3);
  const std::uint64_t number[] = {4};
  std::vector<started> all;
  for (auto& rank : ranks) all.push_back(rank.start_max(number));
  ranks.pop_back();
  for (const auto& each : all) CHECK(each->test());
  const auto next = ranks[0].start_max(number);
  try {
    next->test();
    FAIL("nothing was thrown");
  } catch (const cairn::error& cause) {
    CHECK(cause.code() == cairn::errc::lost_rank);
    CHECK(cause.sentence() == "rank 2 has ended");
  }
  CHECK(ranks[0].roll_call(std::chrono::milliseconds(1)) == std::vector<unsigned>{1, 2});
}

TEST_CASE("a group has ranks") { CHECK_THROWS_AS(threads::make(0), cairn::error); }

TEST_CASE("threads that run at once agree, operation by operation") {
  constexpr unsigned size = 4, rounds = 2'000;
  auto ranks = threads::make(size);
  std::vector<unsigned> wrong(size);
  std::vector<std::thread> all;
  for (unsigned rank = 0; rank < size; ++rank)
    all.emplace_back([&, rank] {
      std::mt19937 random(rank);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::uint64_t mine[] = {round * size + rank};
        const auto made = ranks[rank].start_max(mine);
        while (!made->test()) std::this_thread::yield();
        wrong[rank] += numbers_of(made) != std::vector<std::uint64_t>{round * size + size - 1};
      }
    });
  for (auto& each : all) each.join();
  CHECK(wrong == std::vector<unsigned>(size));
}

}  // namespace
