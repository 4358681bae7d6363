// SPDX-License-Identifier: MIT
// What is in a store's root: checkpoints, and directories that are being written, replaced or deleted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/store/hidden_name.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/owner_record.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1::stores::detail {

/// A directory on disk: its path for messages, open.
struct open_directory {
  std::string path;
  posix::descriptor fd;

  [[nodiscard]] std::string file(std::string_view name) const { return sentence({path, "/", name}); }
  [[nodiscard]] std::vector<std::string> entries() const { return posix::entries(fd.get(), path); }
};

/// Opens `name` in `parent`; without a descriptor when it is not there.
[[nodiscard]] inline open_directory open_in(const open_directory& parent, const std::string& name) {
  open_directory opened{parent.file(name), posix::open_at(parent.fd.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)};
  if (!opened.fd && !posix::is_gone(errno)) fail_io("open the directory", opened.path);
  return opened;
}

/// Whether a file or directory cannot be opened because of what it is or whose it is: it is not there, of another kind, or may not be read. Not
/// because of the file system or the process.
[[nodiscard]] inline bool is_foreign(int failure) noexcept {
  return posix::is_gone(failure) || failure == ENOTDIR || failure == ENAMETOOLONG || failure == ELOOP ||
         failure == ENXIO || failure == EACCES || failure == EPERM;
}

/// Whether an open index begins as Cairn writes it; nullopt, with errno, if it cannot be read.
[[nodiscard]] inline std::optional<bool> begins_as_index(int index) noexcept {
  char text[cairn::detail::index_opening.size()];
  const auto count = posix::retried([&] { return ::pread(index, text, sizeof text, 0); });
  if (count < 0) return std::nullopt;
  return std::string_view(text, static_cast<std::size_t>(count)) == cairn::detail::index_opening;
}

/// Whether the directory that is open as `there` is a checkpoint under a name without a step: its index begins as Cairn's, or cannot be read just
/// now. What may not be read is somebody else's.
[[nodiscard]] inline bool has_own_index(int there, std::string_view where) {
  const auto listed = posix::open_at(there, ".", O_RDONLY | O_DIRECTORY);
  const auto index = listed
                         ? posix::open_at(listed.get(), std::string(cairn::detail::index_file), O_RDONLY | O_NONBLOCK)
                         : posix::descriptor();
  if (!index && is_foreign(errno)) return false;
  if (!index) fail_io("look for", sentence({where, "/", cairn::detail::index_file}));
  return posix::is_regular(index.get()) && begins_as_index(index.get()).value_or(true);
}

/// The name of the checkpoint in a directory: its own, or that in its hidden name.
[[nodiscard]] inline std::string_view checkpoint_in(std::string_view entry) {
  for (const auto prefix : {replaced_prefix, temporary_prefix})
    if (const auto of = hidden_checkpoint(entry, prefix); !of.empty()) return of;
  return entry;
}

/// Whether `name` is a directory in `root`, and no link to one, that has a file by the name of an index. An error does not mean that it has none:
/// errc::io.
[[nodiscard]] inline bool has_index_file(const open_directory& root, const std::string& name) {
  const auto file = sentence({name, "/", cairn::detail::index_file});
  struct stat about{};
  const bool is_there = ::fstatat(root.fd.get(), file.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
                        ::fstatat(root.fd.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there) return S_ISDIR(about.st_mode);
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP) return false;
  fail_io("look for", root.file(file));
}

/// Whether `name` is a checkpoint in `root`, which may be damaged: as above, and without a step in its name as `has_own_index` says.
[[nodiscard]] inline bool has_index(const open_directory& root, const std::string& name) {
  const auto of = checkpoint_in(name);
  if (cairn::detail::parse_checkpoint_name(of)) return has_index_file(root, name);
  if (!cairn::detail::is_checkpoint_name(of)) return false;
  const auto there = posix::open_at(root.fd.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!there && !is_foreign(errno)) fail_io("open the directory", root.file(name));
  return there && has_own_index(there.get(), root.file(name));
}

/// Whether the files are those of a checkpoint, which may be damaged: the index begins as Cairn writes it, or there are only Cairn's files, and
/// a shard is one of them. A foreign index.json is not Cairn's.
[[nodiscard]] inline bool holds_checkpoint(const open_directory& there) {
  const auto entries = there.entries();
  if (entries.size() > 1 && std::all_of(entries.begin(), entries.end(), cairn::detail::is_own_file)) return true;
  const auto index = posix::open_at(there.fd.get(), std::string(cairn::detail::index_file), O_RDONLY | O_NONBLOCK);
  if (!index && errno == ENOENT) return false;
  if (!index) fail_io("open", there.file(cairn::detail::index_file));
  if (!posix::is_regular(index.get())) return false;
  const auto begins = begins_as_index(index.get());
  if (!begins) fail_io("read", there.file(cairn::detail::index_file));
  return *begins;
}

/// Throws errc::invalid if the directory has files of others, and no checkpoint.
inline void require_own(const open_directory& there) {
  if (holds_checkpoint(there)) return;
  for (const auto& entry : there.entries())
    if (!cairn::detail::is_own_file(entry) || entry == cairn::detail::index_file)
      fail(errc::invalid,
           {there.path, " is no checkpoint and holds \"", entry, "\": choose another place or move it away"});
}

/// Renames the directory that is open as `moved`. A file system may report an error after the deed, as NFS does when it sends a request again.
/// False, with errno, if it still has its old name. EEXIST: a directory has the new name; some file systems give other errors then, as sshfs EPERM.
[[nodiscard]] inline bool rename_in(const open_directory& root, const std::string& from, const std::string& to,
                                    const open_directory& moved) {
  if (::renameat(root.fd.get(), from.c_str(), root.fd.get(), to.c_str()) == 0) return true;
  const int failure = errno;
  if (posix::is_same(root.fd.get(), to, moved.fd.get())) return true;
  struct stat there{};
  const bool exists = failure != ENOENT && ::fstatat(root.fd.get(), to.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                      S_ISDIR(there.st_mode);
  errno = exists || failure == ENOTEMPTY ? EEXIST : failure;  // it may have gone meanwhile
  return false;
}

/// Exchanges the names of two directories; false, with errno, as above.
[[nodiscard]] inline bool exchange_in(const open_directory& root, const std::string& a, const std::string& b,
                                      const open_directory& at_b_afterwards) {
  if (::renameat2(root.fd.get(), a.c_str(), root.fd.get(), b.c_str(), RENAME_EXCHANGE) == 0) return true;
  const int failure = errno;
  if (posix::is_same(root.fd.get(), b, at_b_afterwards.fd.get())) return true;
  errno = failure;
  return false;
}

/// Moves a file of others to another directory, unless that has one of this name. False if it stays.
[[nodiscard]] inline bool move_file(const open_directory& from, const std::string& name, const open_directory& to) {
  struct stat about{};
  if (::fstatat(to.fd.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT) return false;
  return ::renameat(from.fd.get(), name.c_str(), to.fd.get(), name.c_str()) == 0;
}

/// Deletes the directory `name` in `root` and the files in it that Cairn writes, the index first, so that after a crash what is left is not
/// listed. Moves other files to `heir`, if that is not null. What cannot be moved stays, in the directory.
inline void delete_directory(const open_directory& root, const std::string& name, const open_directory& from,
                             const open_directory* heir) {
  const auto unlink = [&](const std::string& file) {
    if (::unlinkat(from.fd.get(), file.c_str(), 0) != 0 && errno != ENOENT) fail_io("delete", from.file(file));
  };
  unlink(std::string(cairn::detail::index_file));
  bool is_empty = true;
  for (const auto& entry : from.entries()) {
    if (cairn::detail::is_own_file(entry))
      unlink(entry);
    else
      is_empty = heir != nullptr && move_file(from, entry, *heir) && is_empty;
  }
  if (is_empty) ::unlinkat(root.fd.get(), name.c_str(), AT_REMOVEDIR);
}

/// The directory in which the checkpoint is while it is being replaced; empty if there is none.
[[nodiscard]] inline std::string find_replaced(const open_directory& root, std::string_view name) {
  for (const auto& entry : root.entries())
    if (hidden_checkpoint(entry, replaced_prefix) == name && has_index(root, entry)) return entry;
  return {};
}

/// Whether `name` leads nowhere now, or to something that `has_index` has not seen.
[[nodiscard]] inline bool has_changed(const open_directory& root, const std::string& name) {
  const auto there = posix::open_at(root.fd.get(), name, O_PATH | O_NOFOLLOW);
  struct stat about{};
  const auto has_index_now = [&] {
    return cairn::detail::parse_checkpoint_name(checkpoint_in(name))
               ? ::fstatat(there.get(), cairn::detail::index_file.data(), &about, AT_SYMLINK_NOFOLLOW) == 0
               : cairn::detail::is_checkpoint_name(checkpoint_in(name)) && has_own_index(there.get(), root.file(name));
  };
  return !there || has_index_now() || !posix::is_same(root.fd.get(), name, there.get());
}

/// The names of the checkpoints in `root`, also of those that are being replaced. Those in `known` are not looked at. False if a name has led to
/// something else meanwhile, so that its checkpoint may be missing.
[[nodiscard]] inline bool list_checkpoints(const open_directory& root, const std::set<std::string>& known,
                                           std::vector<std::string>& names) {
  names.clear();
  bool is_complete = true;
  for (const auto& entry : root.entries()) {
    std::string replaced(hidden_checkpoint(entry, replaced_prefix));
    if (replaced.empty() && entry.front() == '.') continue;
    if (known.contains(entry) || has_index(root, entry) || (!replaced.empty() && has_index(root, replaced)))
      names.push_back(replaced.empty() ? entry : std::move(replaced));
    else if (has_changed(root, entry))
      is_complete = false;
  }
  return is_complete;
}

/// Times of files, as the file system counts them, which may differ from the clock of this host.
using file_time = std::chrono::nanoseconds;

[[nodiscard]] inline file_time time_in(const struct stat& about) {
  return std::chrono::seconds(about.st_mtim.tv_sec) + std::chrono::nanoseconds(about.st_mtim.tv_nsec);
}

/// When the open file was changed last.
[[nodiscard]] inline file_time time_of(int file, std::string_view where) {
  struct stat about{};
  if (::fstat(file, &about) != 0) fail_io("look at", where);
  return time_in(about);
}

/// The number of the mount.
[[nodiscard]] inline std::uint64_t device_of(const open_directory& root) {
  struct stat about{};
  if (::fstat(root.fd.get(), &about) != 0) fail_io("look at", root.path);
  return about.st_dev;
}

/// A hidden name for the checkpoint `name` that no directory in `root` has.
[[nodiscard]] inline std::string new_hidden_name(const open_directory& root, std::string_view prefix,
                                                 std::string_view name) {
  return hidden_name(prefix, name, new_attempt(machine_id(device_of(root)), process_id()));
}

/// A writer of another host that does not own the root counts as dead when it has changed nothing since the returned time.
[[nodiscard]] inline file_time abandoned_before(file_time now, std::chrono::milliseconds lease) {
  constexpr int silent_leases = 10;
  return now - silent_leases * lease;
}

/// What of the hidden directories is to be completed.
struct recovery {
  std::string_view name{};            ///< only those of this checkpoint; empty: all
  std::string_view own{};             ///< the caller's directory
  std::string former_writer{};        ///< a former owner of the root, which is dead: see owner_record::writer
  std::optional<file_time> before{};  ///< what other machines have last changed before is abandoned; nullopt: nothing
};

/// Whether no process writes into the locked directory `left` any more. Its lock says so for this machine only.
[[nodiscard]] inline bool is_abandoned(const std::string& entry, const open_directory& left, const recovery& what) {
  const auto attempt = attempt_of(entry);
  const auto machine = attempt.substr(0, machine_digits);
  if (machine == machine_id(device_of(left))) return true;
  // Other processes of the former owner's machine may live.
  if (const auto writer = writer_of(attempt); !writer.empty() && writer == what.former_writer) return true;
  if (!what.before || time_of(left.fd.get(), left.path) >= *what.before) return false;
  const auto files = left.entries();
  return std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    struct stat about{};
    return ::fstatat(left.fd.get(), file.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || time_in(about) < *what.before;
  });
}

/// Completes what crashed processes began: deletes temporary directories, and restores a checkpoint that was being replaced if the new one is
/// not there. Passes over what a live process holds, and returns the names of those of these directories that are of this machine.
inline std::vector<std::string> recover(const open_directory& root, const recovery& what) {
  std::vector<std::string> live;
  for (const auto& entry : root.entries()) {
    const auto replaced = hidden_checkpoint(entry, replaced_prefix);
    const std::string of(replaced.empty() ? hidden_checkpoint(entry, temporary_prefix) : replaced);
    if (!cairn::detail::is_checkpoint_name(of) || (!what.name.empty() && of != what.name) || entry == what.own)
      continue;
    try {
      const auto left = open_in(root, entry);
      if (!left.fd) continue;
      if (!posix::try_lock(left.fd.get(), left.path)) {
        live.push_back(entry);
        continue;
      }
      if (!posix::is_same(root.fd.get(), entry, left.fd.get())) continue;  // published or deleted in the meantime
      const bool is_needed = !replaced.empty() && !has_index(root, of);
      if ((replaced.empty() || is_needed) && !is_abandoned(entry, left, what)) continue;
      if (is_needed && has_index_file(root, entry)) {
        static_cast<void>(rename_in(root, entry, of, left));  // if that fails it stays what a reader of `of` gets
        continue;
      }
      static_cast<void>(::fsync(root.fd.get()));  // the crashed process may not have: the newer name comes first
      const auto newer = open_in(root, of);
      delete_directory(root, entry, left, newer.fd ? &newer : nullptr);
    } catch (const error&) {  // somebody else's
    }
  }
  return live;
}

}  // namespace cairn::inline v0_1::stores::detail
