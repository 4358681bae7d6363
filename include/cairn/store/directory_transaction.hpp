// SPDX-License-Identifier: MIT
// A checkpoint of a directory store being written: into a hidden directory, which is renamed when it is complete.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/store/base.hpp"
#include "cairn/store/checkpoint_directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/place_lock.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores::detail {

/// Files that are being written into a directory.
class new_files {
 public:
  /// `where`: the path of the checkpoint, for messages. `lock`: of the root, if this process has it.
  new_files(std::string where, bool durable, std::shared_ptr<const place_lock> lock)
      : where_(std::move(where)), durable_(durable), lock_(std::move(lock)) {}

  sink& create(const open_directory& in, std::string_view file, std::uint64_t bytes) {
    if (!cairn::detail::is_own_file(file)) fail(errc::invalid, {"\"", file, "\" is not a file of a checkpoint"});
    constexpr std::uint64_t worth_direct = 64 << 10;
    const auto mode = !durable_ ? file_mode::cached : bytes >= worth_direct ? file_mode::direct : file_mode::synced;
    guarded(lock_, [&] {
      const auto path = sentence({where_, "/", file});
      open_.push_back(std::make_unique<guarded_file>(lock_, in.fd.get(), std::string(file), path, bytes, mode));
    });
    created_.emplace_back(file);
    return *open_.back();
  }

  /// Closes the files, and syncs them and their names if they are to be durable.
  void prepare(const open_directory& in) {
    for (const auto& file : open_) file->finish();
    open_.clear();
    if (durable_) posix::sync(in.fd.get(), in.path);
  }

  void close() noexcept { open_.clear(); }
  [[nodiscard]] const std::vector<std::string>& created() const noexcept { return created_; }

 private:
  struct guarded_file final : file_sink {
    template <class... Arguments>
    explicit guarded_file(const std::shared_ptr<const place_lock>& of, Arguments&&... arguments)
        : file_sink(std::forward<Arguments>(arguments)...), lock(of) {}
    void write(std::uint64_t offset, std::span<const buffer> buffers) override {
      guarded(lock, [&] { file_sink::write(offset, buffers); });
    }
    const std::shared_ptr<const place_lock>& lock;
  };

  std::string where_;
  bool durable_;
  std::shared_ptr<const place_lock> lock_;
  std::vector<std::unique_ptr<file_sink>> open_;
  std::vector<std::string> created_;
};

/// Writes into the temporary directory of another writer.
class joined_transaction final : public transaction {
 public:
  joined_transaction(const open_directory& root, std::string_view name, std::string_view attempt, bool durable)
      : files_(root.file(name), durable, nullptr), here_(open_in(root, hidden_name(name, attempt))) {
    if (!here_.fd) fail(errc::not_found, {"nobody is saving to ", root.file(name), " as attempt ", attempt});
  }

  ~joined_transaction() override {
    if (is_prepared_) return;
    files_.close();
    for (const auto& file : files_.created()) ::unlinkat(here_.fd.get(), file.c_str(), 0);
  }

  sink& create(std::string_view file, std::uint64_t bytes) override {
    is_prepared_ = false;
    return files_.create(here_, file, bytes);
  }

  void prepare() override {
    files_.prepare(here_);
    is_prepared_ = true;
  }

  void publish() override {
    fail(errc::invalid, {here_.path, ": only the writer that has begun a checkpoint publishes it"});
  }

 private:
  new_files files_;
  open_directory here_;
  posix::closed_in_children closed_{here_.fd};
  bool is_prepared_ = false;
};

/// A checkpoint that is being written into a locked temporary directory.
class directory_transaction final : public transaction {
 public:
  /// `lock`: of the root, if this process has it.
  directory_transaction(std::shared_ptr<const open_directory> root, std::shared_ptr<const place_lock> lock,
                        std::string name, std::chrono::milliseconds lease, bool durable)
      : root_(std::move(root)),
        lock_(std::move(lock)),
        name_(std::move(name)),
        lease_(lease),
        durable_(durable),
        files_(root_->file(name_), durable, lock_) {
    if (const auto there = open_in(*root_, newest_directory(*root_, name_)); there.fd) require_own(there);
    claim();
  }

  ~directory_transaction() override {
    if (is_published_) return;
    files_.close();
    try {
      if (posix::is_same(root_->fd.get(), attempt_, here_.fd.get())) delete_directory(*root_, attempt_, here_);
    } catch (...) {  // the next transaction of this name, or the next owner, removes it
    }
  }

  sink& create(std::string_view file, std::uint64_t bytes) override { return files_.create(here_, file, bytes); }

  void prepare() override {
    guarded(lock_, [&] { files_.prepare(here_); });
  }

  [[nodiscard]] std::string attempt() const override { return std::string(attempt_of(attempt_)); }

  void publish() override {
    guarded(lock_, [&] {
      files_.prepare(here_);
      if (lock_) lock_->check();
      rename_into_place();
      is_published_ = true;
      if (durable_) posix::sync(root_->fd.get(), root_->path);
      delete_older(*root_, name_, false);
    });
  }

 private:
  /// Creates the temporary directory, and locks it. errc::busy if a live process writes a checkpoint of this name.
  void claim() {
    constexpr int most = 20;
    for (int tries = 0; tries < most; ++tries) {
      attempt_ = new_hidden_name(*root_, name_);
      if (::mkdirat(root_->fd.get(), attempt_.c_str(), 0777) != 0) {
        if (errno == EEXIST) continue;
        fail_io("create the directory", root_->file(attempt_));
      }
      here_ = open_in(*root_, attempt_);
      const bool is_locked = here_.fd && posix::try_lock(here_.fd.get(), here_.path) &&
                             posix::is_same(root_->fd.get(), attempt_, here_.fd.get());
      if (!is_locked) continue;  // another process took it for a leftover
      if (is_alone()) return;
      break;
    }
    ::unlinkat(root_->fd.get(), attempt_.c_str(), AT_REMOVEDIR);
    fail(errc::busy, {"another process is saving to ", root_->file(name_)});
  }

  /// Removes what dead processes left. Of live ones that begin at the same time, the one with the smallest attempt
  /// waits for the others to give up; one that began before it does not.
  [[nodiscard]] bool is_alone() const {
    constexpr int most = 50;
    const recovery what{
        .name = name_, .own = attempt_, .before = abandoned_before(time_of(here_.fd.get(), here_.path), lease_)};
    for (int tries = 0; tries < most; ++tries) {
      const auto live = recover(*root_, what);
      if (live.empty()) return true;
      if (std::any_of(live.begin(), live.end(), [&](const auto& other) { return other < attempt_; })) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  /// To the first free name of a generation above those that are there. A rename replaces no directory that has files.
  void rename_into_place() {
    const auto there = generations(*root_, name_);
    for (auto next = there.empty() ? generation{name_} : there.back();; ++next.number) {
      if (rename_in(*root_, attempt_, directory_name(next), here_)) return;
      if (errno != EEXIST) fail_io("publish", root_->file(name_));
    }
  }

  std::shared_ptr<const open_directory> root_;
  std::shared_ptr<const place_lock> lock_;
  std::string name_;
  std::string attempt_;  // the name of the directory
  std::chrono::milliseconds lease_;
  bool durable_;
  bool is_published_ = false;
  open_directory here_;
  posix::closed_in_children closed_{here_.fd};
  new_files files_;
};

}  // namespace cairn::inline v0_1::stores::detail
