// SPDX-License-Identifier: MIT
// Definitions of store/directory.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "cairn/store/root_directory.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/system/mutex.hpp"
#include "cairn/system/sort.hpp"
#include "cairn/store/place_lock.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores {

namespace detail {

/// The lock that a store and its copies have, while it is held, and what the owner knows: nobody else removes
/// checkpoints then. Thread-safe.
class shared_lock {
 public:
  /// Directories that are published if they are there.
  struct directories {
    std::set<std::string> names;
    std::uint64_t removals = 0;
  };

  [[nodiscard]] std::shared_ptr<const place_lock> load() const {
    const cairn::detail::mutex_lock guard(mutex_);
    return lock_.lock();
  }
  void store(const std::shared_ptr<const place_lock>& lock) {
    const cairn::detail::mutex_lock guard(mutex_);
    lock_ = lock;
    known_.names.clear();
    is_synced_ = false;
  }

  [[nodiscard]] directories known() const {
    const cairn::detail::mutex_lock guard(mutex_);
    return known_;
  }
  /// Keeps what a list has found, unless something was removed since `before`.
  void learn(directories before, const std::vector<generation>& found) {
    before.names.clear();  // those without a step in their names may be removed by others
    for (const auto& each : found)
      if (cairn::detail::parse_checkpoint_name(each.name)) before.names.insert(directory_name(each));
    const cairn::detail::mutex_lock guard(mutex_);
    if (before.removals == known_.removals) known_ = std::move(before);
  }
  void forget(std::string_view name) {
    const cairn::detail::mutex_lock guard(mutex_);
    std::erase_if(known_.names, [&](const auto& each) { return cairn::detail::parse_generation(each)->name == name; });
    ++known_.removals;
  }

  /// A list has found these publications in the root, which had changed at that time; nothing: just now.
  void listed(const std::optional<timespec>& changed, const std::vector<generation>& found) {
    const cairn::detail::mutex_lock guard(mutex_);
    changed_ = changed;
    listed_ = changed ? found : std::vector<generation>();
  }
  /// The newest of a name, if the root has not changed since: without this, n checkpoints need n looks at n names.
  [[nodiscard]] std::optional<generation> newest(const open_directory& root, std::string_view name) const {
    const auto now = time_of_change(root);
    const cairn::detail::mutex_lock guard(mutex_);
    if (!now || !changed_ || now->tv_sec != changed_->tv_sec || now->tv_nsec != changed_->tv_nsec) return std::nullopt;
    const auto after =
        std::ranges::upper_bound(listed_, name, std::less<>(), [](const auto& each) -> auto& { return each.name; });
    if (after == listed_.begin() || std::prev(after)->name != name) return std::nullopt;
    return *std::prev(after);
  }

  /// What is there is on the disk.
  void synced() {
    const cairn::detail::mutex_lock guard(mutex_);
    is_synced_ = true;
  }
  [[nodiscard]] bool is_synced() const {
    const cairn::detail::mutex_lock guard(mutex_);
    return is_synced_;
  }

 private:
  mutable cairn::detail::mutex mutex_;
  std::weak_ptr<const place_lock> lock_ CAIRN_GUARDED_BY(mutex_);
  directories known_ CAIRN_GUARDED_BY(mutex_);
  std::optional<timespec> changed_ CAIRN_GUARDED_BY(mutex_);
  std::vector<generation> listed_ CAIRN_GUARDED_BY(mutex_);
  bool is_synced_ CAIRN_GUARDED_BY(mutex_) = false;
};

/// Opens the root of a store; without a descriptor when it is not there and is not to be made.
[[nodiscard]] inline std::shared_ptr<const open_directory> open_root(const std::string& path, bool make) {
  const auto open = [&] { return posix::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY); };
  open_directory root{path, open()};
  if (!root.fd && errno == ENOENT) {
    if (const auto link = cairn::detail::find_dangling_link(path); !link.empty())
      fail(errc::io, {"the directory ", path, " cannot be opened: ", link,
                      " is a symbolic link to something that is not there, as where a file system is not mounted"});
    errno = ENOENT;
    if (make) {
      posix::make_directories(path);
      root.fd = open();
    }
  }
  if (!root.fd && (make || errno != ENOENT)) fail_io("open the directory", path);
  return std::make_shared<const open_directory>(std::move(root));
}

/// errc::invalid if the root of a store is a checkpoint.
inline void refuse_checkpoint(const open_directory& root) {
  const auto index = open_index(root.fd.get());
  if (!index && errno == ENOENT) return;
  if (!index) fail_io("look for", root.file(index_file));
  if (posix::is_regular(index.get()) && begins_as_index(index.get()).value_or(false))
    fail(errc::invalid, {root.path, " is a checkpoint, and no place of checkpoints: give the directory above it"});
}

/// The beginning of the index in a directory, with its checksum; empty where it cannot be read.
[[nodiscard]] inline std::string index_mark(const open_directory& there) {
  const auto index = open_index(there.fd.get());
  if (!index && !is_foreign(errno)) fail_io("open", there.file(index_file));
  if (!index || !posix::is_regular(index.get())) return {};
  const auto mark = posix::beginning_of(index.get(), cairn::detail::index_opening.size() + 16);
  if (!mark && !posix::is_damaged(errno)) fail_io("read", there.file(index_file));
  return mark.value_or("");
}

/// The files of one directory. It is opened for each file, since the links of a chain may be more than the files that a
/// process may have open, and told by its index: other files may have its name by then.
class directory_publication final : public publication {
 public:
  explicit directory_publication(const open_directory& there) : path_(there.path), mark_(index_mark(there)) {}

  [[nodiscard]] std::string location() const override { return path_; }
  [[nodiscard]] std::vector<std::string> files() const override {
    auto names = open_again().entries();
    cairn::detail::sort_items(names, std::less<>());
    return names;
  }
  [[nodiscard]] std::unique_ptr<source> open(std::string_view file) const override {
    const auto there = open_again();
    return std::make_unique<file_source>(there.fd.get(), std::string(file), there.file(file));
  }

 private:
  [[nodiscard]] open_directory open_again() const {
    open_directory there{path_, posix::open_at(AT_FDCWD, path_, O_RDONLY | O_DIRECTORY)};
    if (!there.fd && !posix::is_gone(errno) && errno != ENOTDIR) fail_io("open the directory", path_);
    if (!there.fd || index_mark(there) != mark_)
      fail(errc::not_found, {"the checkpoint ", path_, " has been removed since it was opened"});
    return there;
  }

  std::string path_, mark_;
};

/// A checkpoint that is being written: into a directory with a hidden name, which the writer that begins it makes and
/// locks, and renames when it is complete.
class directory_transaction final : public transaction {
 public:
  /// Begins the checkpoint, or joins an attempt. `lock`: of the root, if this process has it.
  directory_transaction(std::shared_ptr<const open_directory> root, std::shared_ptr<const place_lock> lock,
                        std::string_view name, const directory_options& options, bool settles,
                        std::optional<std::string_view> attempt = {})
      : root_(std::move(root)),
        lock_(std::move(lock)),
        name_(name),
        lease_(options.lease),
        durable_(options.durable),
        settles_(settles),
        is_joined_(attempt.has_value()) {
    if (is_joined_) {
      hidden_ = hidden_name(name_, *attempt);
      if (root_->fd && attempt_of(hidden_) == *attempt) here_ = open_in(*root_, hidden_);
      if (!here_.fd) fail(errc::not_found, {"nobody is saving to ", root_->file(name_), " as attempt ", *attempt});
    } else {
      if (const auto there = open_in(*root_, newest_directory(*root_, name_)); there.fd) require_own(there);
      claim();
    }
  }

  ~directory_transaction() override {
    if (is_complete_) return;
    open_.clear();
    if (is_joined_) {
      for (const auto& file : created_) ::unlinkat(here_.fd.get(), file.c_str(), 0);
      // One who has begun it and given up could not remove the directory while these were there.
      if (::flock(here_.fd.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(root_->fd.get(), hidden_.c_str(), AT_REMOVEDIR);
      return;
    }
    try {
      if (posix::is_same(root_->fd.get(), hidden_, here_.fd.get())) delete_directory(*root_, hidden_, here_);
    } catch (...) {  // the next transaction of this name, or the next owner, removes it
    }
  }

  sink& create(std::string_view file, std::uint64_t bytes) override {
    is_complete_ = false;
    if (!is_own_file(file)) fail(errc::invalid, {"\"", file, "\" is not a file of a checkpoint"});
    constexpr std::uint64_t worth_direct = 64 << 10;
    const auto mode = !durable_ ? file_mode::cached : bytes >= worth_direct ? file_mode::direct : file_mode::synced;
    guarded(lock_, [&] {
      const auto path = sentence({root_->file(name_), "/", file});
      open_.push_back(std::make_unique<guarded_file>(lock_, here_.fd.get(), std::string(file), path, bytes, mode));
    });
    created_.emplace_back(file);
    return *open_.back();
  }

  void prepare() override {
    guarded(lock_, [&] {
      for (const auto& file : open_) file->finish();
      open_.clear();
      if (durable_) posix::sync(here_.fd.get(), here_.path);
    });
    is_complete_ = is_joined_;
  }

  [[nodiscard]] std::string attempt() const override {
    return is_joined_ ? std::string() : std::string(attempt_of(hidden_));
  }

  void publish() override {
    if (is_joined_) fail(errc::invalid, {here_.path, ": only the writer that has begun a checkpoint publishes it"});
    guarded(lock_, [&] {
      prepare();
      if (lock_) lock_->check();
      const auto published = rename_into_place();
      is_complete_ = true;
      if (durable_) posix::sync(root_->fd.get(), root_->path);
      delete_older(*root_, name_, false);
      if (settles_ && published.number > 1 && generations(*root_, name_) == std::vector{published})
        static_cast<void>(rename_in(*root_, directory_name(published), name_, here_));
    });
  }

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

  /// Creates the temporary directory, and locks it. errc::busy if a live process writes a checkpoint of this name.
  void claim() {
    constexpr int most = 20;
    for (int tries = 0; tries < most; ++tries) {
      hidden_ = new_hidden_name(*root_, name_);
      if (::mkdirat(root_->fd.get(), hidden_.c_str(), 0777) != 0) {
        if (errno == EEXIST) continue;
        fail_io("create the directory", root_->file(hidden_));
      }
      here_ = open_in(*root_, hidden_);
      const bool is_locked = here_.fd && posix::try_lock(here_.fd.get(), here_.path) &&
                             posix::is_same(root_->fd.get(), hidden_, here_.fd.get());
      if (!is_locked) continue;  // another process took it for a leftover
      if (is_alone()) return;
      break;
    }
    ::unlinkat(root_->fd.get(), hidden_.c_str(), AT_REMOVEDIR);
    fail(errc::busy, {"another process is saving to ", root_->file(name_)});
  }

  /// Removes what dead processes left. Of live ones that begin at the same time, the one with the smallest attempt
  /// waits for the others to give up; one that began before it does not.
  [[nodiscard]] bool is_alone() const {
    constexpr int most = 50;
    const recovery what{
        .name = name_, .own = hidden_, .before = abandoned_before(time_of(here_.fd.get(), here_.path), lease_)};
    for (int tries = 0; tries < most; ++tries) {
      const auto live = recover(*root_, what);
      if (live.empty()) return true;
      if (std::any_of(live.begin(), live.end(), [&](const auto& other) { return other < hidden_; })) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  /// Renames to the first free name of a generation above those that are there. A rename replaces no directory that has
  /// files.
  [[nodiscard]] generation rename_into_place() const {
    const auto there = generations(*root_, name_);
    for (auto next = there.empty() ? generation{name_} : there.back();; ++next.number) {
      if (rename_in(*root_, hidden_, directory_name(next), here_)) return next;
      if (errno != EEXIST) fail_io("publish", root_->file(name_));
    }
  }

  std::shared_ptr<const open_directory> root_;
  std::shared_ptr<const place_lock> lock_;
  std::string name_;
  std::string hidden_;  // the name of the directory, until it is published
  std::chrono::milliseconds lease_;
  bool durable_, settles_, is_joined_;
  bool is_complete_ = false;  // it is published, or what this one has added is prepared: nothing is to be removed
  open_directory here_;
  posix::closed_in_children closed_{here_.fd};
  std::vector<std::unique_ptr<file_sink>> open_;
  std::vector<std::string> created_;
};

/// Removes a publication. Its directory first gets a temporary name, on the disk too if `durable`: the next owner of
/// the root deletes it if this process crashes. Files of others stay in it, under its name. errc::not_found.
inline void remove_publication(const open_directory& root, const generation& which, bool durable) {
  auto entry = directory_name(which);
  const auto there = open_in(root, entry);
  if (!there.fd) fail(errc::not_found, {"there is no checkpoint ", there.path});
  require_own(there);
  const auto entries = there.entries();
  const auto temporary = new_hidden_name(root, which.name);
  const bool is_hidden = std::all_of(entries.begin(), entries.end(), is_own_file) &&
                         posix::try_lock(there.fd.get(), there.path) && rename_in(root, entry, temporary, there);
  if (is_hidden) entry = temporary;
  if (durable && is_hidden) posix::sync(root.fd.get(), root.path);
  delete_directory(root, entry, there);
  if (durable && !is_hidden)
    posix::sync((posix::is_same(root.fd.get(), entry, there.fd.get()) ? there : root).fd.get(), there.path);
}

/// Syncs the checkpoints that a store with `durable = false` left in the page cache: new deltas may be built on them.
inline void sync_existing(const open_directory& root) {
  for (const auto& each : publications(root)) {
    const auto there = open_in(root, directory_name(each));
    if (!there.fd) continue;
    for (const auto& entry : there.entries()) {
      if (!is_own_file(entry)) continue;
      const auto file = posix::open_at(there.fd.get(), entry, O_RDONLY | O_NONBLOCK);  // it may be a pipe
      if (!file && !is_foreign(errno)) fail_io("open", there.file(entry));  // no delta is built on what cannot be read
      if (file && posix::is_regular(file.get())) posix::sync(file.get(), there.file(entry));
    }
    posix::sync(there.fd.get(), there.path);
  }
  posix::sync(root.fd.get(), root.path);
  posix::sync_ancestors(root.path);
}

bool has_publication(const std::string& path, std::string_view name) {
  const auto root = open_root(path, false);
  return root->fd && cairn::detail::is_checkpoint_name(name) && !publications(*root, name).empty();
}

}  // namespace detail

scheduler_job scheduler_job::of_environment() {
  const auto value = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
  };
  if (auto id = value("SLURM_JOB_ID"); !id.empty())
    return {"slurm " + id, detail::parse_number(value("SLURM_RESTART_COUNT"))};
  if (auto id = value("TORCHELASTIC_RUN_ID"); !id.empty())
    return {"torchelastic " + id, detail::parse_number(value("TORCHELASTIC_RESTART_COUNT"))};
  return {};
}

/// Refuses addresses such as s3://bucket/run, of which a directory "s3:" could be made.
static std::string require_path(std::string root) {
  if (root.empty()) fail(errc::invalid, {"the path of a store is empty; the current directory is \".\""});
  if (const auto colon = root.find(":/"); colon != std::string::npos && colon > 1 && root.find('/') > colon)
    fail(errc::invalid, {root, " is an address, and no directory: for a bucket pass cairn::stores::s3 (cairn/s3.hpp)"});
  return cairn::detail::absolute_path(std::move(root));
}

directory::directory(std::string root, directory_options options)
    : path_(require_path(std::move(root))), options_(options), lock_(std::make_shared<detail::shared_lock>()) {
  if (options_.lease <= options_.lease.zero()) fail(errc::invalid, {"the lease of ", path_, " must be above 0"});
}

std::shared_ptr<const detail::place_lock> directory::checked_lock() const {
  auto lock = lock_->load();
  if (lock) lock->check();
  return lock;
}

ownership directory::lock() {
  const auto root = detail::open_root(path_, true);
  detail::refuse_checkpoint(*root);
  // In a forked child it is the parent's.
  const std::shared_ptr<const detail::place_lock> lock(new detail::place_lock(root, options_.lease, options_.job),
                                                       [](const detail::place_lock* held) {
                                                         if (held->is_here()) delete held;
                                                       });
  detail::recover(
      *root, {.former_writer = lock->former_writer(), .before = detail::abandoned_before(lock->now(), options_.lease)});
  lock_->store(lock);
  return lock;
}

std::unique_ptr<transaction> directory::begin(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  const auto lock = checked_lock();
  return detail::guarded(lock, [&] {
    auto root = detail::open_root(path_, !lock);  // a root that is locked is there
    if (!lock && options_.durable) posix::sync_ancestors(path_);
    if (lock && options_.durable && !lock_->is_synced()) {
      detail::sync_existing(*root);
      lock_->synced();
    }
    return std::make_unique<detail::directory_transaction>(std::move(root), lock, name, options_, settles_);
  });
}

std::unique_ptr<transaction> directory::join(std::string_view name, std::string_view attempt) {
  cairn::detail::require_checkpoint_name(name);
  return std::make_unique<detail::directory_transaction>(detail::open_root(path_, false), nullptr, name, options_,
                                                         false, attempt);
}

std::vector<std::string> directory::list() const {
  const auto lock = lock_->load();
  const bool is_owner = lock && lock->is_here();
  if (is_owner) lock->check_root();
  const auto known = is_owner ? lock_->known() : detail::shared_lock::directories{};
  const auto root = detail::open_root(path_, false);
  if (!root->fd) return {};
  const auto changed = detail::time_of_change(*root);
  const auto found = detail::publications(*root, {}, known.names);
  lock_->listed(changed, found);
  if (is_owner) lock_->learn(known, found);
  if (found.empty()) detail::refuse_checkpoint(*root);
  std::vector<std::string> names;
  for (const auto& each : found)
    if (names.empty() || names.back() != each.name) names.push_back(each.name);
  cairn::detail::sort_items(names, checkpoint_before);
  return names;
}

std::shared_ptr<const publication> directory::open(std::string_view name) const {
  cairn::detail::require_checkpoint_name(name);
  const auto root = detail::open_root(path_, false);
  constexpr int most = 20;
  for (int tries = 0; root->fd && tries < most; ++tries) {  // a newer one may be published meanwhile
    const auto listed = tries == 0 ? lock_->newest(*root, name) : std::nullopt;
    const auto newest = listed && detail::is_published(*root, *listed) ? cairn::detail::directory_name(*listed)
                                                                       : detail::newest_directory(*root, name);
    detail::open_directory there{root->file(newest), posix::open_at(root->fd.get(), newest, O_RDONLY | O_DIRECTORY)};
    if (there.fd) return std::make_shared<detail::directory_publication>(there);
    if (!posix::is_gone(errno) && errno != ENOTDIR) fail_io("open the directory", there.path);
  }
  fail(errc::not_found, {"there is no checkpoint ", path_, "/", name});
}

void directory::remove(std::string_view name) {
  cairn::detail::require_checkpoint_name(name);
  const auto lock = checked_lock();
  detail::guarded(lock, [&] {
    const auto root = detail::open_root(path_, !lock);
    detail::recover(*root, {.name = name});
    auto all = detail::publications(*root, name);
    if (all.empty()) all.push_back({std::string(name)});  // it may be damaged
    lock_->forget(name);
    for (const auto& each : all)  // the newest last: what is left is no older one
      detail::remove_publication(*root, each, options_.durable);
    lock_->forget(name);  // a list may have found it meanwhile
  });
}

}  // namespace cairn::inline v0_1::stores
