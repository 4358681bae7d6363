// SPDX-License-Identifier: MIT
// A store in which a save waits until a test lets it go on, or fails, and in which things happen while it is read.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/store/memory.hpp"
#include "hooked_publication.hpp"
#include "standard.hpp"

namespace tests {

/// Closed, it blocks all threads that pass; open, none.
class gate {
 public:
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      is_open_ = true;
    }
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++held_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_open_; });
    --held_;
  }
  /// Returns when the gate holds someone.
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true;
  int held_ = 0;
};

/// A store in memory. A transaction begins when the gate is open, and not at all when `refuses` says so; `opened` is
/// called after a file has been opened.
struct gated_store {
  cairn::any_store inner = cairn::stores::memory();
  std::shared_ptr<gate> entrance = std::make_shared<gate>();
  std::function<bool(std::string_view name)> refuses{};
  std::function<bool(std::string_view name)> keeps{};  ///< checkpoints that cannot be removed
  std::function<void(std::string_view name, std::string_view file)> opened{};
  std::function<void()> lists{};  ///< called before the checkpoints are listed

  [[nodiscard]] std::string location() const { return inner.location(); }
  [[nodiscard]] cairn::stores::ownership lock() { return inner.lock(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) {
    entrance->pass();
    if (refuses && refuses(name)) cairn::fail(cairn::errc::io, {"the disk is full at ", name});
    return inner.begin(name);
  }
  [[nodiscard]] std::vector<std::string> list() const {
    if (lists) lists();
    return inner.list();
  }
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    return std::make_shared<hooked_publication>(inner.open(name),
                                                [opened = opened, name = std::string(name)](const auto& of, auto file) {
                                                  auto source = of.open(file);
                                                  if (opened) opened(name, file);
                                                  return source;
                                                });
  }
  void remove(std::string_view name) {
    if (keeps && keeps(name)) cairn::fail(cairn::errc::io, {"cannot delete ", name});
    inner.remove(name);
  }
};

}  // namespace tests
