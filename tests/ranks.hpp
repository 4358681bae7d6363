// What the tests of several ranks share.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/group/threads.hpp"
#include "cairn/options.hpp"
#include "cairn/store/base.hpp"
#include "catch.hpp"

/// Runs `act` at each rank, in a thread of its own. Returns what each has thrown, "" for none.
inline std::vector<std::string> at_each(unsigned ranks, const std::function<void(cairn::groups::threads)>& act) {
  auto group = cairn::groups::threads::make(ranks);
  std::vector<std::string> thrown(ranks);
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank, own = std::exchange(group[rank], group[rank])]() mutable {
      try {
        act(std::move(own));
      } catch (const std::exception& cause) {
        thrown[rank] = cause.what();
      }
    });
  group.clear();
  for (auto& each : threads) each.join();
  return thrown;
}

/// What all ranks have thrown, which must be the same.
inline std::string common(const std::vector<std::string>& thrown) {
  for (const auto& each : thrown) CHECK(each == thrown.front());
  return thrown.front();
}

/// CHECK is for one thread alone.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

inline cairn::checkpointer_options quick() {
  cairn::checkpointer_options options;
  options.rank_timeout = std::chrono::seconds(20);
  return options;
}

/// A store that cannot write, or cannot read the checkpoint of step 8, while these are false.
struct broken_store {
  cairn::any_store base;
  const std::atomic<bool>* writes = nullptr;  // null: it writes
  bool reads = true;

  [[nodiscard]] std::string location() const { return base.location(); }
  [[nodiscard]] cairn::stores::ownership lock() { return base.lock(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) {
    check_writes();
    return base.begin(name);
  }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> join(std::string_view name, std::string_view attempt) {
    check_writes();
    return base.join(name, attempt);
  }
  [[nodiscard]] std::vector<std::string> list() const { return base.list(); }
  [[nodiscard]] std::vector<std::string> files(std::string_view name) const { return base.files(name); }
  [[nodiscard]] std::unique_ptr<cairn::stores::source> open(std::string_view name, std::string_view file) const {
    if (!reads && name == "step-000000008") cairn::fail(cairn::errc::unreadable, {"a bad sector"});
    return base.open(name, file);
  }
  void remove(std::string_view name) { base.remove(name); }

  void check_writes() const {
    if (writes != nullptr && !*writes) cairn::fail(cairn::errc::io, {"the disk is full"});
  }
};
