// SPDX-License-Identifier: MIT
// The C library's calls that change files, each under its own name: passes them on and, while a recorder is there,
// writes down those that change something below its directory.
#undef _FORTIFY_SOURCE  // with it, headers define some of these functions themselves
#include "durability/call_log.hpp"
#include "standard.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>

namespace lost_writes {

namespace {

using file_key = std::pair<dev_t, ino_t>;

/// What is being recorded. Numbers of the system may come again after a file is gone: `known` has those of living ones.
struct recording {
  std::mutex mutex;
  call_log log;
  std::map<file_key, inode> known;
  std::size_t failing_sync = 0, syncs = 0;
};

std::atomic<recording*> current{nullptr};

/// The C library's own function.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Calls the C library and then, when that has succeeded and something is recorded, `note(recording, result)`.
template <class Call, class Note>
auto passed_on(const Call& call, const Note& note) {
  auto* to = current.load();
  if (to == nullptr) return call();
  const std::lock_guard one_at_a_time(to->mutex);
  const auto result = call();
  const int error = errno;
  if (result >= 0) note(*to, result);
  errno = error;
  return result;
}

std::optional<inode> find(const recording& in, const struct stat& about) {
  const auto at = in.known.find({about.st_dev, about.st_ino});
  return at == in.known.end() ? std::nullopt : std::optional(at->second);
}

std::optional<inode> inode_of(const recording& in, int file) {
  struct stat about{};
  return ::fstat(file, &about) == 0 ? find(in, about) : std::nullopt;
}

std::optional<inode> inode_at(const recording& in, int directory, const std::string& path) {
  struct stat about{};
  return ::fstatat(directory, path.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 ? find(in, about) : std::nullopt;
}

/// An entry of a recorded directory.
struct place {
  std::optional<inode> directory;
  std::string name;
};

place place_of(const recording& in, int directory, const char* path) {
  const std::string whole = path;
  const auto slash = whole.find_last_of('/');
  if (slash != whole.npos) return {inode_at(in, directory, whole.substr(0, slash + 1) + "."), whole.substr(slash + 1)};
  return {directory == AT_FDCWD ? inode_at(in, directory, ".") : inode_of(in, directory), whole};
}

void add(recording& to, operation what) { to.log.operations.push_back(std::move(what)); }

void note_made(recording& to, int directory, const char* path, bool is_directory) {
  const auto where = place_of(to, directory, path);
  struct stat about{};
  if (!where.directory || ::fstatat(directory, path, &about, AT_SYMLINK_NOFOLLOW) != 0) return;
  const inode made = to.log.is_directory.size();
  to.log.is_directory.push_back(is_directory);
  to.known[{about.st_dev, about.st_ino}] = made;
  add(to, {.what = operation::kind::entries, .of = *where.directory, .names = {{where.name, made}}});
}

void note_gone(recording& to, int directory, const char* path) {
  const auto where = place_of(to, directory, path);
  if (where.directory)
    add(to, {.what = operation::kind::entries, .of = *where.directory, .names = {{where.name, std::nullopt}}});
}

/// Within a directory one operation; between two, one in each.
void note_renamed(recording& to, int from_directory, const char* from, int to_directory, const char* onto) {
  const auto a = place_of(to, from_directory, from), b = place_of(to, to_directory, onto);
  const auto moved = inode_at(to, to_directory, onto);
  if (a.directory && a.directory == b.directory)
    return add(
        to, {.what = operation::kind::entries, .of = *a.directory, .names = {{a.name, std::nullopt}, {b.name, moved}}});
  if (b.directory) add(to, {.what = operation::kind::entries, .of = *b.directory, .names = {{b.name, moved}}});
  if (a.directory) add(to, {.what = operation::kind::entries, .of = *a.directory, .names = {{a.name, std::nullopt}}});
}

void note_resized(recording& to, int file) {
  struct stat about{};
  if (const auto of = inode_of(to, file); of && ::fstat(file, &about) == 0)
    add(to, {.what = operation::kind::resize, .of = *of, .offset = static_cast<std::uint64_t>(about.st_size)});
}

/// True if the sync fails, and is done with.
bool fails(int file) {
  auto* const to = current.load();
  if (to == nullptr) return false;
  const std::lock_guard one_at_a_time(to->mutex);
  const auto of = inode_of(*to, file);
  if (!of || ++to->syncs != to->failing_sync) return false;
  add(*to, {.what = operation::kind::failure, .of = *of});
  errno = EIO;
  return true;
}

void note_synced(recording& to, int file) {
  if (const auto of = inode_of(to, file)) add(to, {.what = operation::kind::sync, .of = *of});
}

int synced(const char* function, int file) {
  static auto* const call = next<int(int)>(function);
  if (fails(file)) return -1;
  return passed_on([&] { return call(file); }, [&](recording& to, int) { note_synced(to, file); });
}

void note_written(recording& to, int file, const iovec* parts, int count, ssize_t done, off_t offset) {
  const auto of = inode_of(to, file);
  if (!of) return;
  operation what{.what = operation::kind::write, .of = *of, .offset = static_cast<std::uint64_t>(offset)};
  for (int i = 0; i < count; ++i) what.bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  what.bytes.resize(static_cast<std::size_t>(done));
  add(to, std::move(what));
}

int opened(const char* function, int directory, const char* path, int flags, mode_t mode) {
  auto* const call = next<int(int, const char*, int, ...)>(function);
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || current.load() == nullptr) return call(directory, path, flags, mode);
  struct stat about{};
  const bool was_there = ::fstatat(directory, path, &about, 0) == 0;
  return passed_on([&] { return call(directory, path, flags, mode); },
                   [&](recording& to, int file) {
                     if (!was_there) note_made(to, directory, path, false);
                     if (was_there && (flags & O_TRUNC) != 0) note_resized(to, file);
                   });
}

ssize_t written(const char* function, int file, const void* bytes, std::size_t count, off_t offset) {
  static auto* const call = next<ssize_t(int, const void*, std::size_t, off_t)>(function);
  const iovec part{const_cast<void*>(bytes), count};
  return passed_on([&] { return call(file, bytes, count, offset); },
                   [&](recording& to, ssize_t done) { note_written(to, file, &part, 1, done, offset); });
}

ssize_t written(const char* function, int file, const iovec* parts, int count, off_t offset) {
  static auto* const call = next<ssize_t(int, const iovec*, int, off_t)>(function);
  return passed_on([&] { return call(file, parts, count, offset); },
                   [&](recording& to, ssize_t done) { note_written(to, file, parts, count, done, offset); });
}

int resized(const char* function, int file, off_t size) {
  static auto* const call = next<int(int, off_t)>(function);
  return passed_on([&] { return call(file, size); }, [&](recording& to, int) { note_resized(to, file); });
}

int reserved(const char* function, int file, int mode, off_t offset, off_t size) {
  static auto* const call = next<int(int, int, off_t, off_t)>(function);
  return passed_on([&] { return call(file, mode, offset, size); }, [&](recording& to, int) { note_resized(to, file); });
}

/// The mode of a call that may make a file.
mode_t mode_in(int flags, std::va_list& more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

recorder::recorder(const std::string& base, std::size_t failing_sync) {
  auto made = std::make_unique<recording>();
  struct stat about{};
  if (::stat(base.c_str(), &about) != 0) throw std::runtime_error("nothing to record in " + base);
  made->known[{about.st_dev, about.st_ino}] = 0;
  made->failing_sync = failing_sync;
  recording* none = nullptr;
  if (!current.compare_exchange_strong(none, made.get())) throw std::runtime_error("a recorder is there already");
  made.release();
}

recorder::~recorder() {
  if (current.load() != nullptr) static_cast<void>(finish());
}

void recorder::mark(std::string text, std::uint64_t number) {
  auto* to = current.load();
  if (to == nullptr) return;
  const std::lock_guard one_at_a_time(to->mutex);
  add(*to, {.what = operation::kind::mark, .text = std::move(text), .number = number});
}

call_log recorder::finish() {
  const std::unique_ptr<recording> ended(current.exchange(nullptr));
  return std::move(ended->log);
}

}  // namespace lost_writes

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const auto mode = lost_writes::mode_in(flags, more);
  va_end(more);
  return lost_writes::opened("openat", AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const auto mode = lost_writes::mode_in(flags, more);
  va_end(more);
  return lost_writes::opened("openat64", AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const auto mode = lost_writes::mode_in(flags, more);
  va_end(more);
  return lost_writes::opened("openat", directory, path, flags, mode);
}

int openat64(int directory, const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const auto mode = lost_writes::mode_in(flags, more);
  va_end(more);
  return lost_writes::opened("openat64", directory, path, flags, mode);
}

ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
  return lost_writes::written("pwrite", file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void* bytes, std::size_t count, off64_t offset) {
  return lost_writes::written("pwrite", file, bytes, count, offset);
}

ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) {
  return lost_writes::written("pwritev", file, parts, count, offset);
}

ssize_t pwritev64(int file, const iovec* parts, int count, off64_t offset) {
  return lost_writes::written("pwritev", file, parts, count, offset);
}

int fsync(int file) { return lost_writes::synced("fsync", file); }
int fdatasync(int file) { return lost_writes::synced("fsync", file); }

int ftruncate(int file, off_t size) noexcept { return lost_writes::resized("ftruncate", file, size); }
int ftruncate64(int file, off64_t size) noexcept { return lost_writes::resized("ftruncate", file, size); }

int fallocate(int file, int mode, off_t offset, off_t size) {
  return lost_writes::reserved("fallocate", file, mode, offset, size);
}

int fallocate64(int file, int mode, off64_t offset, off64_t size) {
  return lost_writes::reserved("fallocate", file, mode, offset, size);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const call = lost_writes::next<int(const char*, mode_t)>("mkdir");
  return lost_writes::passed_on([&] { return call(path, mode); },
                                [&](auto& to, int) { lost_writes::note_made(to, AT_FDCWD, path, true); });
}

int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  static auto* const call = lost_writes::next<int(int, const char*, mode_t)>("mkdirat");
  return lost_writes::passed_on([&] { return call(directory, path, mode); },
                                [&](auto& to, int) { lost_writes::note_made(to, directory, path, true); });
}

int renameat(int from_directory, const char* from, int to_directory, const char* onto) noexcept {
  static auto* const call = lost_writes::next<int(int, const char*, int, const char*)>("renameat");
  return lost_writes::passed_on(
      [&] { return call(from_directory, from, to_directory, onto); },
      [&](auto& to, int) { lost_writes::note_renamed(to, from_directory, from, to_directory, onto); });
}

int renameat2(int from_directory, const char* from, int to_directory, const char* onto, unsigned flags) noexcept {
  static auto* const call = lost_writes::next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return lost_writes::passed_on(
      [&] { return call(from_directory, from, to_directory, onto, flags); },
      [&](auto& to, int) { lost_writes::note_renamed(to, from_directory, from, to_directory, onto); });
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  static auto* const call = lost_writes::next<int(int, const char*, int)>("unlinkat");
  return lost_writes::passed_on([&] { return call(directory, path, flags); },
                                [&](auto& to, int) { lost_writes::note_gone(to, directory, path); });
}

int unlink(const char* path) noexcept {
  static auto* const call = lost_writes::next<int(const char*)>("unlink");
  return lost_writes::passed_on([&] { return call(path); },
                                [&](auto& to, int) { lost_writes::note_gone(to, AT_FDCWD, path); });
}

int rmdir(const char* path) noexcept {
  static auto* const call = lost_writes::next<int(const char*)>("rmdir");
  return lost_writes::passed_on([&] { return call(path); },
                                [&](auto& to, int) { lost_writes::note_gone(to, AT_FDCWD, path); });
}

}  // extern "C"
