// SPDX-License-Identifier: MIT
#include "cairn/store/directory.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/file.h>

#include "cairn/store/checkpoint_directory.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

// Publishing and removing are in the tests of directory.hpp and base.hpp.

namespace fs = std::filesystem;
using namespace cairn::stores;

TEST_CASE("of writers that begin one checkpoint at the same time at most one goes on") {
  const sample::scratch scratch(sample::in_memory());
  constexpr int writers = 3, rounds = 60;
  std::barrier all(writers);
  std::atomic<int> now{0};
  int most = 0, wins = 0;
  std::array<int, writers> unexpected{};
  const auto work = [&](std::size_t self) {
    directory store(scratch.path(), {.durable = false});
    for (int round = 0; round < rounds; ++round) {
      all.arrive_and_wait();
      std::unique_ptr<transaction> begun;
      const auto failure = sample::failure_of([&] { begun = store.begin("a"); });
      now += begun ? 1 : 0;
      if (!begun && failure.code != cairn::errc::busy) ++unexpected[self];
      all.arrive_and_wait();
      if (self == 0) {
        most = std::max(most, now.load());
        wins += now;
        now = 0;
      }
      all.arrive_and_wait();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < writers; ++i) threads.emplace_back(work, i);
  threads.clear();
  CHECK(most == 1);
  CHECK(wins > 0);
  CHECK(unexpected == std::array<int, writers>{});
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("a writer that begins later gives way to the one that is there, whichever attempt is smaller") {
  const sample::scratch scratch(sample::in_memory());
  const detail::open_directory root{scratch.path(),
                                    cairn::posix::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY)};
  const auto machine = detail::machine_id(detail::device_of(root));
  for (const auto* random : {"00000000", "ffffffff"}) {  // the second one waits for the other to give up
    const auto other =
        detail::hidden_name("a", machine + (random[0] == 'f' ? "ffffffff" : "00000000") + std::string(random));
    fs::create_directories(scratch.path(other));
    const auto held = detail::open_in(root, other);
    REQUIRE(cairn::posix::try_lock(held.fd.get(), held.path));
    const auto failure = sample::failure_of([&] { static_cast<void>(directory(scratch.path()).begin("a")); });
    CHECK(failure.code == cairn::errc::busy);
    CHECK(failure.says("another process is saving to " + scratch.path("a")));
    CHECK(fs::exists(scratch.path(other)));
    CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 1);
    CHECK_NOTHROW(directory(scratch.path()).begin("b"));
    fs::remove(scratch.path(other));
  }
}
