// SPDX-License-Identifier: MIT
// Files and directories: their paths, and calls of the system, repeated after signals and with Cairn's errors.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cairn/core/error.hpp"

namespace cairn::inline v0_1::detail {

/// A path's directory and the name in it: "a/b" -> {"a", "b"}, "b/" -> {".", "b"}.
struct path_parts {
  std::string directory;
  std::string name;
};

[[nodiscard]] inline path_parts split_path(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// As split_path, for a directory that exists: "." and ".." are replaced by its name.
[[nodiscard]] inline path_parts split_existing(const std::string& path) {
  auto split = split_path(path);
  if (split.name != "." && split.name != "..") return split;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? split_path(real.get()) : split;
}

/// The path from "/" on: "a" -> "<current directory>/a"; "" and "." are that directory. Removes slashes at the end.
[[nodiscard]] inline std::string absolute_path(std::string path) {
  if (path.find('\0') != std::string::npos)
    fail(errc::invalid, {std::string_view(path.c_str()), ": the path has a zero byte after this"});
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.starts_with('/')) return path;
  const std::unique_ptr<char, void (*)(void*)> current(::getcwd(nullptr, 0), &std::free);
  if (!current) fail_io("find the current directory for", path);
  const std::string above = current.get();
  return path.empty() || path == "." ? above : (above == "/" ? above : above + "/") + path;
}

/// What kind of file is there, as in `st_mode`; 0 where nothing is, or where that cannot be found out.
[[nodiscard]] inline mode_t mode_of(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

[[nodiscard]] inline bool is_file(const std::string& path) noexcept { return S_ISREG(mode_of(path)); }
[[nodiscard]] inline bool is_directory(const std::string& path) noexcept { return S_ISDIR(mode_of(path)); }

/// Whether there is something other than a directory: a file, or what cannot be read as one, such as a device.
[[nodiscard]] inline bool is_single(const std::string& path) noexcept {
  const auto mode = mode_of(path);
  return mode != 0 && !S_ISDIR(mode);
}

/// The first part of a path that is a symbolic link to something that is not there; empty if there is none.
[[nodiscard]] inline std::string find_dangling_link(const std::string& path) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    auto part = path.substr(0, end);
    struct stat about{};
    if (::lstat(part.c_str(), &about) != 0) return {};
    if (S_ISLNK(about.st_mode) && ::stat(part.c_str(), &about) != 0 && errno == ENOENT) return part;
    if (end == path.npos) return {};
  }
}

/// The directories of `path`, itself included, that are missing when it is constructed. The destructor removes those of
/// them that are empty, unless `keep` was called.
class new_directories {
 public:
  explicit new_directories(const std::string& path) {
    struct stat about{};
    for (auto at = absolute_path(path); ::stat(at.c_str(), &about) != 0 && errno == ENOENT && at != "/";
         at = split_path(at).directory)
      missing_.push_back(at);
  }
  new_directories(const new_directories&) = delete;
  new_directories& operator=(const new_directories&) = delete;
  ~new_directories() {
    for (const auto& each : missing_)
      if (::rmdir(each.c_str()) != 0 && errno != ENOENT) return;
  }

  void keep() noexcept { missing_.clear(); }

 private:
  std::vector<std::string> missing_;  // the deepest first
};

}  // namespace cairn::inline v0_1::detail

namespace cairn::inline v0_1::posix {

/// Owns an open file.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void release() noexcept { number_ = -1; }
  /// Closes the file, if it is open. errc::io: bytes that were written are lost. After EINTR it is closed, too.
  void close(std::string_view where) {
    const int number = std::exchange(number_, -1);
    if (number >= 0 && ::close(number) != 0 && errno != EINTR) fail_io("close", where);
  }

 private:
  int number_ = -1;
};

/// Whether a call failed because a file is not there: by its name or, on a network file system where another host has
/// deleted it, although it is open.
[[nodiscard]] inline bool is_gone(int failure) noexcept { return failure == ENOENT || failure == ESTALE; }

/// Whether a read failed because the medium is damaged.
[[nodiscard]] inline bool is_damaged(int failure) noexcept {
  return failure == EIO || failure == EBADMSG || failure == EUCLEAN;
}

/// Repeats a call that a signal interrupted.
template <class Call>
[[nodiscard]] auto retried(const Call& call) {
  decltype(call()) result;
  do result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

/// Repeats a call that may make a file longer. Beyond a limit on the size of files (ulimit -f) it fails with EFBIG,
/// instead of ending the process by SIGXFSZ.
template <class Call>
[[nodiscard]] auto retried_write(const Call& call) {
  sigset_t limit, before;
  ::sigemptyset(&limit);
  ::sigaddset(&limit, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &limit, &before);
  const auto result = retried(call);
  const int failure = errno;
  if (result < 0 && failure == EFBIG && ::sigismember(&before, SIGXFSZ) == 0) {
    constexpr timespec at_once{};
    ::sigtimedwait(&limit, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = failure;
  return result;
}

/// Never one of the standard streams, which the program may have closed and go on to write to.
[[nodiscard]] inline descriptor open_at(int directory, const std::string& name, int flags) {
  descriptor opened(retried([&] { return ::openat(directory, name.c_str(), flags | O_CLOEXEC, 0666); }));
  if (!opened || opened.get() > STDERR_FILENO) return opened;
  return descriptor(::fcntl(opened.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// The contents of a file of the kernel; empty if it cannot be read.
[[nodiscard]] inline std::string text_of(const std::string& path) {
  std::string text;
  char part[1024];
  const auto file = open_at(AT_FDCWD, path, O_RDONLY);
  while (file) {
    const auto count = retried([&] { return ::read(file.get(), part, sizeof part); });
    if (count <= 0) break;
    text.append(part, static_cast<std::size_t>(count));
  }
  return text;
}

/// The names in an open directory, except "." and "..", in no order.
[[nodiscard]] inline std::vector<std::string> entries(int directory, std::string_view where) {
  auto again = open_at(directory, ".", O_RDONLY | O_DIRECTORY);  // with a position of its own
  DIR* stream = again ? ::fdopendir(again.get()) : nullptr;
  if (stream == nullptr) fail_io("list", where);
  again.release();  // closedir closes it
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int failure = errno;
  ::closedir(stream);
  if (failure != 0) fail_io("list", where, failure);
  return names;
}

/// Waits for the disk. errc::io also where the file system cannot do that.
inline void sync(int file, std::string_view where) {
  if (retried([&] { return ::fsync(file); }) == 0) return;
  if (errno == EINVAL)
    fail(errc::io, {"cannot flush ", where,
                    ": its file system has no fsync, so that a crash may lose what is saved there; if that is "
                    "acceptable, save with durable = false"});
  fail_io("flush", where);
}

[[nodiscard]] inline bool is_regular(int file) {
  struct stat about{};
  return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

/// mkdir -p.
inline void make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && errno != EISDIR) {
      const int failure = errno;
      struct stat about{};  // a read-only parent answers EROFS even where the directory is there already
      if (::stat(part.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) fail_io("create the directory", part, failure);
    }
    if (end == path.npos) return;
  }
}

/// Makes the names of a directory and of those above it durable, up to the root of its file system, whoever made them.
/// Passes over directories that may not be read or that have no fsync.
inline void sync_ancestors(const std::string& path) {
  auto where = path;
  auto at = open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  struct stat here{}, above{};
  if (!at || ::fstat(at.get(), &here) != 0) fail_io("open the directory", path);
  for (;; here = above) {
    at = open_at(at.get(), "..", O_PATH | O_DIRECTORY);
    where += "/..";
    if (!at && errno == EACCES) return;
    if (!at || ::fstat(at.get(), &above) != 0) fail_io("open the directory", where);
    if (above.st_dev != here.st_dev || above.st_ino == here.st_ino) return;
    const auto opened = open_at(at.get(), ".", O_RDONLY | O_DIRECTORY);
    if (!opened && errno != EACCES) fail_io("open the directory", where);
    if (opened && retried([&] { return ::fsync(opened.get()); }) != 0 && errno != EINVAL) fail_io("flush", where);
  }
}

/// Calls `call(vectors, count, offset)`, which transfers bytes of a file to or from memory and returns their number,
/// until all buffers are done.
template <class Byte, class Call>
void transfer_all(std::span<const std::span<Byte>> buffers, std::uint64_t offset, const Call& call) {
  constexpr std::size_t most = 1024;  // IOV_MAX on Linux
  std::vector<iovec> vectors;
  while (!buffers.empty()) {
    vectors.clear();
    for (const auto& each : buffers.first(std::min(buffers.size(), most)))
      vectors.push_back({const_cast<std::remove_const_t<Byte>*>(each.data()), each.size()});
    buffers = buffers.subspan(vectors.size());
    std::size_t first = 0;
    while (true) {
      while (first < vectors.size() && vectors[first].iov_len == 0) ++first;
      if (first == vectors.size()) break;
      std::size_t left = call(&vectors[first], static_cast<int>(vectors.size() - first), static_cast<off_t>(offset));
      offset += left;
      while (left > 0) {
        const std::size_t taken = std::min(left, vectors[first].iov_len);
        vectors[first].iov_base = static_cast<char*>(vectors[first].iov_base) + taken;
        vectors[first].iov_len -= taken;
        left -= taken;
        if (vectors[first].iov_len == 0) ++first;
      }
    }
  }
}

/// Writes all buffers consecutively from `offset` on, by any number of calls. `action` is for messages, as in fail_io.
inline void write_all(int file, std::span<const std::span<const std::byte>> buffers, std::uint64_t offset,
                      std::string_view where, std::string_view action = "write") {
  transfer_all(buffers, offset, [&](const iovec* vectors, int count, off_t at) {
    const auto done = retried_write([&] { return ::pwritev(file, vectors, count, at); });
    if (done < 0) fail_io(action, where);
    if (done == 0) fail_io(action, where, ENOSPC);
    return static_cast<std::size_t>(done);
  });
}

/// Fills all buffers consecutively from `offset` on. errc::corrupt when the file ends before; errc::unreadable;
/// errc::io, also when another host has deleted the file.
inline void read_all(int file, std::span<const std::span<std::byte>> buffers, std::uint64_t offset,
                     std::string_view where) {
  transfer_all(buffers, offset, [&](const iovec* vectors, int count, off_t at) {
    const auto done = retried([&] { return ::preadv(file, vectors, count, at); });
    if (done > 0) return static_cast<std::size_t>(done);
    if (done == 0) fail(errc::corrupt, {where, " ends at byte ", at, ", but more bytes are needed"});
    const int failure = errno;
    if (is_damaged(failure))
      fail(errc::unreadable, {where, " cannot be read at byte ", at, ": ", std::generic_category().message(failure)});
    fail_io("read", where, failure);
  });
}

/// The first bytes of an open file, at most `most`; nullopt, with errno, if it cannot be read.
[[nodiscard]] inline std::optional<std::string> beginning_of(int file, std::size_t most) {
  std::string text(most, '\0');
  for (std::size_t done = 0; done < most;) {  // a file system may give less than is asked for
    const auto count =
        retried([&] { return ::pread(file, text.data() + done, most - done, static_cast<off_t>(done)); });
    if (count < 0) return std::nullopt;
    if (count == 0) text.resize(most = done);
    done += static_cast<std::size_t>(count);
  }
  return text;
}

/// Takes the file's lock without waiting; false when another open file has it.
[[nodiscard]] inline bool try_lock(int file, std::string_view where) {
  if (retried([&] { return ::flock(file, LOCK_EX | LOCK_NB); }) == 0) return true;
  if (errno != EWOULDBLOCK) fail_io("lock", where);
  return false;
}

/// Whether `name` in `directory` is the file that is open as `file`.
[[nodiscard]] inline bool is_same(int directory, const std::string& name, int file) {
  struct stat by_name{}, open{};
  return ::fstatat(directory, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &open) == 0 &&
         by_name.st_dev == open.st_dev && by_name.st_ino == open.st_ino;
}

}  // namespace cairn::inline v0_1::posix
