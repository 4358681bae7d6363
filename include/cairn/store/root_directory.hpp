// SPDX-License-Identifier: MIT
// What is in a store's root: checkpoints, and directories with hidden names, which are being written or deleted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/random.h>
#include <unistd.h>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/posix.hpp"
#include "cairn/system/sort.hpp"

namespace cairn::inline v0_1::stores::detail {

using cairn::detail::generation, cairn::detail::index_file, cairn::detail::is_own_file;

/// 64 random bits. Not by std::random_device: libstdc++ takes RDSEED, which repeats numbers on some CPUs (AMD-SB-7055).
[[nodiscard]] inline std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = std::random_device()();  // a sandbox without the call
  return number;
}

/// `.tmp-<name>.<attempt>`: is being written or deleted.
inline constexpr std::string_view temporary_prefix = ".tmp-";

inline constexpr std::size_t machine_digits = 8, process_digits = 8, random_digits = 8,
                             attempt_digits = machine_digits + process_digits + random_digits;

/// 0 for other text.
[[nodiscard]] inline std::uint64_t parse_number(std::string_view text) {
  std::uint64_t value = 0;
  return cairn::detail::read_number(text, value) ? value : 0;
}

/// Field 22 of /proc/<process>/stat; 0 if there is none. Field 2, the name of the program, is in parentheses, and may
/// hold spaces and parentheses.
[[nodiscard]] inline std::uint64_t start_of(std::uint64_t process) {
  const auto text = posix::text_of(sentence({"/proc/", process, "/stat"}));
  std::string_view rest(text);
  const auto end_of_name = rest.rfind(')');
  if (end_of_name == rest.npos) return 0;
  rest.remove_prefix(end_of_name + 1);
  for (int field = 3; field <= 22; ++field) {
    const auto space = rest.find(' ');
    if (space == rest.npos) return 0;
    rest.remove_prefix(space + 1);
  }
  return parse_number(rest.substr(0, rest.find(' ')));
}

[[nodiscard]] inline const std::string& boot_of_this_machine() {
  static const std::string boot = [] {
    const auto line = posix::text_of("/proc/sys/kernel/random/boot_id");
    return line.substr(0, line.find('\n'));
  }();
  return boot;
}

/// 8 hexadecimal digits that are the same for all processes of a machine that use the mount `device`; empty if the boot
/// is not known.
[[nodiscard]] inline std::string machine_id(std::string_view boot, std::uint64_t device) {
  if (boot.empty()) return {};
  const auto text = sentence({boot, " ", device});
  return cairn::detail::to_hex(cairn::detail::checksum(std::as_bytes(std::span(text)))).substr(0, machine_digits);
}
/// Of this machine.
[[nodiscard]] inline std::string machine_id(std::uint64_t device) { return machine_id(boot_of_this_machine(), device); }

[[nodiscard]] inline std::uint64_t namespace_of_this_process() {
  struct stat about{};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/// 8 hexadecimal digits that differ between processes of a machine, also such as have ended; empty if the kernel does
/// not tell.
[[nodiscard]] inline std::string process_id(std::uint64_t processes, std::uint64_t process, std::uint64_t started) {
  if (processes == 0 || started == 0) return {};
  const std::uint64_t all[] = {processes, process, started};
  const auto digits = cairn::detail::to_hex(cairn::detail::checksum(std::as_bytes(std::span(all))));
  return digits.substr(digits.size() - process_digits);
}
/// Of this process.
[[nodiscard]] inline std::string process_id() {
  const auto process = static_cast<std::uint64_t>(::getpid());
  return process_id(namespace_of_this_process(), process, start_of(process));
}

/// 24 hexadecimal digits: 8 of the machine (`machine_id`), 8 of the process (`process_id`), with zeros for what is not
/// known, and 8 random ones. No two attempts to write a checkpoint have the same.
[[nodiscard]] inline std::string new_attempt(std::string_view machine, std::string_view process) {
  const auto digits = cairn::detail::to_hex(random_number());
  return sentence({machine, std::string(machine_digits - machine.size(), '0'), process,
                   std::string(process_digits - process.size(), '0'),
                   std::string_view(digits).substr(digits.size() - random_digits)});
}

[[nodiscard]] inline std::string hidden_name(std::string_view name, std::string_view attempt) {
  return sentence({temporary_prefix, name, ".", attempt});
}

/// The attempt at the end of a hidden name; empty for names of others.
[[nodiscard]] inline std::string_view attempt_of(std::string_view entry) {
  const auto dot = entry.find_last_not_of("0123456789abcdef");
  if (dot == entry.npos || dot == 0 || entry[dot] != '.') return {};
  const auto attempt = entry.substr(dot + 1);
  return attempt.size() == attempt_digits ? attempt : std::string_view();
}

/// The checkpoint's name in a hidden name; empty for other names, which are not Cairn's.
[[nodiscard]] inline std::string_view hidden_checkpoint(std::string_view entry) {
  if (!entry.starts_with(temporary_prefix)) return {};
  entry.remove_prefix(temporary_prefix.size());
  const auto attempt = attempt_of(entry);
  return attempt.empty() ? attempt : entry.substr(0, entry.size() - attempt.size() - 1);
}

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

/// Whether a file or directory cannot be opened because of what it is or whose it is: it is not there, of another kind,
/// or may not be read. Not because of the file system or the process.
[[nodiscard]] inline bool is_foreign(int failure) noexcept {
  return posix::is_gone(failure) || failure == ENOTDIR || failure == ENAMETOOLONG || failure == ELOOP ||
         failure == ENXIO || failure == EACCES || failure == EPERM;
}

/// Opens the index in an open directory. It may be a pipe, which is not waited for.
[[nodiscard]] inline posix::descriptor open_index(int directory) {
  return posix::open_at(directory, std::string(index_file), O_RDONLY | O_NONBLOCK);
}

/// Whether an open index begins as Cairn writes it; nullopt, with errno, if it cannot be read.
[[nodiscard]] inline std::optional<bool> begins_as_index(int index) {
  const auto text = posix::beginning_of(index, cairn::detail::index_opening.size());
  return text ? std::optional(*text == cairn::detail::index_opening) : std::nullopt;
}

/// Whether the directory that is open as `there` is a checkpoint under a name without a step: its index begins as
/// Cairn's, or cannot be read just now. What may not be read is somebody else's.
[[nodiscard]] inline bool has_own_index(int there, std::string_view where) {
  const auto listed = posix::open_at(there, ".", O_RDONLY | O_DIRECTORY);
  const auto index = listed ? open_index(listed.get()) : posix::descriptor();
  if (!index && is_foreign(errno)) return false;
  if (!index) fail_io("look for", sentence({where, "/", index_file}));
  return posix::is_regular(index.get()) && begins_as_index(index.get()).value_or(true);
}

/// Whether `root` has this generation published, even damaged: as a directory, and no link to one, that has a file by
/// the name of an index; if its name has no step, `has_own_index`. An error does not mean that it has none: errc::io.
[[nodiscard]] inline bool is_published(const open_directory& root, const generation& which) {
  const auto entry = directory_name(which);
  if (!cairn::detail::parse_checkpoint_name(which.name)) {
    const auto there = posix::open_at(root.fd.get(), entry, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!there && !is_foreign(errno)) fail_io("open the directory", root.file(entry));
    return there && has_own_index(there.get(), root.file(entry));
  }
  const auto file = sentence({entry, "/", index_file});
  struct stat about{};
  const bool is_there = ::fstatat(root.fd.get(), file.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
                        ::fstatat(root.fd.get(), entry.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there) return S_ISDIR(about.st_mode);
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP) return false;
  fail_io("look for", root.file(file));
}

/// The directories in `root` that have names of generations, by name and number: those of checkpoint `of`, or all.
[[nodiscard]] inline std::vector<generation> generations(const open_directory& root, std::string_view of = {}) {
  std::vector<generation> found;
  for (const auto& entry : root.entries()) {
    if (!entry.starts_with(of)) continue;  // most of a large directory
    if (auto parsed = cairn::detail::parse_generation(entry); parsed && (of.empty() || parsed->name == of))
      found.push_back(*std::move(parsed));
  }
  cairn::detail::sort_items(found, std::less<>());
  return found;
}

/// Those of them that are published; directories in `known` are, and not looked at. Where others publish and remove
/// between the look at the names and that at the indexes, the newest of a name could be missing: looks until the names
/// stay the same. errc::busy.
[[nodiscard]] inline std::vector<generation> publications(const open_directory& root, std::string_view of = {},
                                                          const std::set<std::string>& known = {}) {
  constexpr int most = 100;
  auto named = generations(root, of);
  for (int tries = 1; tries < most; ++tries) {
    std::vector<generation> found;
    std::copy_if(named.begin(), named.end(), std::back_inserter(found),
                 [&](const auto& each) { return known.contains(directory_name(each)) || is_published(root, each); });
    if (found.size() == named.size()) return found;
    if (auto now = generations(root, of); std::exchange(named, std::move(now)) == named) return found;
  }
  fail(errc::busy, {root.path, " cannot be listed: other processes change it all the time"});
}

/// The directory of a checkpoint's newest publication. Where there is none, that of its first, which may hold anything.
[[nodiscard]] inline std::string newest_directory(const open_directory& root, std::string_view name) {
  const auto found = publications(root, name);
  return found.empty() ? std::string(name) : directory_name(found.back());
}

/// When an entry of the root was last made or removed; nothing for the last two seconds: file systems count in steps,
/// and two changes within one cannot be told apart.
[[nodiscard]] inline std::optional<timespec> time_of_change(const open_directory& root) {
  constexpr std::time_t step = 2;
  struct stat about{};
  if (::fstat(root.fd.get(), &about) != 0 || ::time(nullptr) - about.st_mtim.tv_sec <= step) return std::nullopt;
  return about.st_mtim;
}

/// Whether the files are those of a checkpoint, which may be damaged: the index begins as Cairn writes it, or there are
/// only Cairn's files, and a shard is one of them. A foreign index.json is not Cairn's.
[[nodiscard]] inline bool holds_checkpoint(const open_directory& there) {
  const auto entries = there.entries();
  if (entries.size() > 1 && std::all_of(entries.begin(), entries.end(), is_own_file)) return true;
  const auto index = open_index(there.fd.get());
  if (!index && errno == ENOENT) return false;
  if (!index) fail_io("open", there.file(index_file));
  if (!posix::is_regular(index.get())) return false;
  const auto begins = begins_as_index(index.get());
  if (!begins) fail_io("read", there.file(index_file));
  return *begins;
}

/// Throws errc::invalid if the directory has files of others, and no checkpoint.
inline void require_own(const open_directory& there) {
  if (holds_checkpoint(there)) return;
  for (const auto& entry : there.entries())
    if (!is_own_file(entry) || entry == index_file)
      fail(errc::invalid,
           {there.path, " is no checkpoint and holds \"", entry, "\": choose another place or move it away"});
}

/// Renames the directory that is open as `moved`. A file system may report an error after the deed, as NFS does when it
/// sends a request again. False, with errno, if it still has its old name. EEXIST: a directory has the new name; some
/// file systems give other errors then, as sshfs EPERM.
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

/// Deletes the directory `name` in `root` and the files in it that Cairn writes: the index first, so that after a crash
/// the rest is not listed; of an older generation last, so that the rest is known as Cairn's. Other files stay, in it.
inline void delete_directory(const open_directory& root, const std::string& name, const open_directory& from,
                             bool is_older = false) {
  const auto unlink = [&](const std::string& file) {
    if (::unlinkat(from.fd.get(), file.c_str(), 0) != 0 && errno != ENOENT) fail_io("delete", from.file(file));
  };
  const std::string index(index_file);
  if (!is_older) unlink(index);
  bool is_empty = true;
  for (const auto& entry : from.entries()) {
    if (!is_own_file(entry))
      is_empty = false;
    else if (entry != index)
      unlink(entry);
  }
  if (is_older) unlink(index);
  if (is_empty) ::unlinkat(root.fd.get(), name.c_str(), AT_REMOVEDIR);
}

/// Deletes the generations, of one checkpoint or all, that a newer one has followed, in their places: nobody looks for
/// them any more. `sync`: makes the newer ones durable before. What cannot be deleted, or is somebody else's, stays.
inline void delete_older(const open_directory& root, std::string_view of, bool sync) {
  const auto all = generations(root, of);
  for (auto at = all.begin(); at != all.end(); ++at) {
    try {
      const auto entry = directory_name(*at);
      const auto same_name = [&](const auto& each) { return each.name == at->name; };
      const auto end = std::find_if_not(at, all.end(), same_name);
      if (end - at == 1) continue;
      const auto older = open_in(root, entry);
      // Now, and not before `older` was opened: the newer one may have got its name: see `directory`.
      const bool is_followed = std::any_of(at + 1, end, [&](const auto& newer) { return is_published(root, newer); });
      if (!older.fd || !is_followed) continue;
      require_own(older);
      if (sync) posix::sync(root.fd.get(), root.path);
      delete_directory(root, entry, older, true);
    } catch (const error&) {
    }
  }
}

/// Times of files, as the file system counts them, which may differ from the clock of this host.
using file_time = std::chrono::nanoseconds;

[[nodiscard]] inline file_time time_in(const struct stat& about) {
  return std::chrono::seconds(about.st_mtim.tv_sec) + std::chrono::nanoseconds(about.st_mtim.tv_nsec);
}

/// What the system says of an open file.
[[nodiscard]] inline struct stat status_of(int file, std::string_view where) {
  struct stat about{};
  if (::fstat(file, &about) != 0) fail_io("look at", where);
  return about;
}

/// When the open file was changed last.
[[nodiscard]] inline file_time time_of(int file, std::string_view where) { return time_in(status_of(file, where)); }

/// The number of the mount.
[[nodiscard]] inline std::uint64_t device_of(const open_directory& root) {
  return status_of(root.fd.get(), root.path).st_dev;
}

/// A hidden name for the checkpoint `name` that no directory in `root` has.
[[nodiscard]] inline std::string new_hidden_name(const open_directory& root, std::string_view name) {
  return hidden_name(name, new_attempt(machine_id(device_of(root)), process_id()));
}

/// A writer of another host that does not own the root counts as dead if it changed nothing since the returned time.
[[nodiscard]] inline file_time abandoned_before(file_time now, std::chrono::milliseconds lease) {
  constexpr int silent_leases = 10;
  return now - silent_leases * lease;
}

/// What of the leftovers is to be removed.
struct recovery {
  std::string_view name{};            ///< only those of this checkpoint; empty: all
  std::string_view own{};             ///< the caller's directory
  std::string former_writer{};        ///< a former owner of the root, which is dead: see owner_record::writer
  std::optional<file_time> before{};  ///< what other machines have last changed before is abandoned; nullopt: nothing
};

/// Whether no process writes into the locked directory `left` any more. Its lock says so for this machine only.
[[nodiscard]] inline bool is_abandoned(const std::string& entry, const open_directory& left, const recovery& what) {
  const auto attempt = attempt_of(entry);
  if (attempt.substr(0, machine_digits) == machine_id(device_of(left))) return true;
  // Other processes of the former owner's machine may live; zeros stand for one that is not known.
  const std::string& former = what.former_writer;
  const bool is_known = !former.empty() && !former.ends_with(std::string(process_digits, '0'));
  if (is_known && attempt.substr(0, machine_digits + process_digits) == former) return true;
  if (!what.before || time_of(left.fd.get(), left.path) >= *what.before) return false;
  const auto files = left.entries();
  return std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    struct stat about{};
    return ::fstatat(left.fd.get(), file.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || time_in(about) < *what.before;
  });
}

/// Removes what crashed processes left:
///
/// | what is found                                      | who may live                             | what is done   |
/// | -------------------------------------------------- | ---------------------------------------- | -------------- |
/// | `.tmp-` of this machine, locked                    | who writes or deletes it                 | stays          |
/// | `.tmp-` of this machine                            | nobody                                   | is deleted     |
/// | `.tmp-` of another machine, of a dead former owner | nobody                                   | is deleted     |
/// | `.tmp-` of another machine                         | its writer, until it has been silent     | stays till then|
/// | a generation and a newer one that is published     | a reader, or who is about to delete it   | is deleted     |
///
/// Returns the names of those that are locked.
inline std::vector<std::string> recover(const open_directory& root, const recovery& what) {
  std::vector<std::string> live;
  for (const auto& entry : root.entries()) {
    const auto of = hidden_checkpoint(entry);
    if (!cairn::detail::is_checkpoint_name(of) || (!what.name.empty() && of != what.name) || entry == what.own)
      continue;
    try {
      const auto left = open_in(root, entry);
      if (!left.fd) continue;
      if (!posix::try_lock(left.fd.get(), left.path))
        live.push_back(entry);
      else if (posix::is_same(root.fd.get(), entry, left.fd.get()) && is_abandoned(entry, left, what))
        delete_directory(root, entry, left);  // else it has been published or deleted in the meantime
    } catch (const error&) {                  // somebody else's
    }
  }
  delete_older(root, what.name, true);
  return live;
}

}  // namespace cairn::inline v0_1::stores::detail
