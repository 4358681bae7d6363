// SPDX-License-Identifier: MIT
// Few open files for readers of many: the least recently used file is closed, and opened again when it is needed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include <sys/resource.h>

#include "cairn/store/base.hpp"

namespace cairn::inline v0_1::detail {

/// The files that a reader may keep open: a part of those that the process may.
[[nodiscard]] inline std::size_t most_open_files() noexcept {
  constexpr rlim_t most = 128, part = 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = most;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / part, 1, most));
}

class pooled_file;

/// Keeps up to `most` files open, and beyond these only such as are being read: one per thread. Thread-safe.
class file_pool {
 public:
  explicit file_pool(std::size_t most = most_open_files()) noexcept : most_(std::max<std::size_t>(most, 1)) {}

  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  /// The files that are open, whether they are being read or not.
  [[nodiscard]] std::size_t open() const {
    const std::lock_guard lock(mutex_);
    return recent_.size();
  }

 private:
  friend class pooled_file;
  using pointer = std::shared_ptr<const stores::source>;
  struct entry {
    const pooled_file* of = nullptr;
    pointer file;
  };
  using entries = std::list<entry>;

  std::size_t most_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  entries recent_;           // the one that was used last comes last
  std::size_t opening_ = 0;  // files that will be added
};

/// A file that its pool may close between two reads. Thread-safe.
class pooled_file final : public stores::source {
 public:
  /// Opens the file: the same one each time.
  using opener = std::function<std::unique_ptr<stores::source>()>;

  /// Opens the file.
  pooled_file(std::shared_ptr<file_pool> pool, opener open) : pool_(std::move(pool)), open_(std::move(open)) {
    size_ = open_now()->size();
  }

  ~pooled_file() override {
    file_pool::entries closed;  // after the lock has been released
    const std::lock_guard lock(pool_->mutex_);
    if (is_open_) closed.splice(closed.end(), pool_->recent_, place_);
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  using source::read;
  void read(std::uint64_t offset, std::span<const std::span<std::byte>> into) const override {
    use()->read(offset, into);
  }
  [[nodiscard]] unsigned readers(std::uint64_t offset) const override { return use()->readers(offset); }

 private:
  using pointer = file_pool::pointer;

  /// The open file, which is not closed before the result is gone.
  [[nodiscard]] pointer use() const {
    if (auto file = if_open()) return file;
    const std::lock_guard lock(opening_);
    auto file = if_open();  // another thread may have opened it
    return file ? file : open_now();
  }

  [[nodiscard]] pointer if_open() const {
    const std::lock_guard lock(pool_->mutex_);
    if (!is_open_) return nullptr;
    pool_->recent_.splice(pool_->recent_.end(), pool_->recent_, place_);
    return place_->file;
  }

  [[nodiscard]] pointer open_now() const {
    file_pool::entries added(1);
    make_room();
    try {
      added.front() = {this, open_()};
    } catch (...) {
      const std::lock_guard lock(pool_->mutex_);
      --pool_->opening_;
      throw;
    }
    const std::lock_guard lock(pool_->mutex_);
    --pool_->opening_;
    place_ = added.begin();
    pool_->recent_.splice(pool_->recent_.end(), added);
    is_open_ = true;
    return place_->file;
  }

  /// Closes files that nobody reads, until there is room for one more.
  void make_room() const {
    file_pool::entries closed;  // after the lock has been released
    const std::lock_guard lock(pool_->mutex_);
    auto& recent = pool_->recent_;
    for (auto at = recent.begin(); at != recent.end() && recent.size() + pool_->opening_ >= pool_->most_;) {
      const auto oldest = at++;
      if (oldest->file.use_count() > 1) continue;  // copies are made under the lock only
      oldest->of->is_open_ = false;
      closed.splice(closed.end(), recent, oldest);
    }
    ++pool_->opening_;
  }

  std::shared_ptr<file_pool> pool_;
  opener open_;
  std::uint64_t size_ = 0;
  mutable std::mutex opening_;  // held while the file is opened again
  // guarded by the mutex of the pool
  mutable bool is_open_ = false;
  mutable file_pool::entries::iterator place_;  // if it is open
};

}  // namespace cairn::inline v0_1::detail
