// SPDX-License-Identifier: MIT
#include "durability/filesystems/lying.hpp"
#include "standard.hpp"

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace filesystems {

namespace {

constexpr std::string_view request_names[] = {"lookup", "getattr",   "setattr", "mkdir",   "unlink",  "rmdir",
                                              "rename", "create",    "open",    "read",    "write",   "flush",
                                              "fsync",  "fallocate", "opendir", "readdir", "fsyncdir"};

/// What a client knows of a file or directory of the server.
struct node {
  int fd = -1;    // O_PATH
  int kept = -1;  // a file in memory with its bytes, if the server does not have all of them
  std::uint64_t lookups = 0;
  unsigned open_files = 0;
  node* hidden_in = nullptr;  // the directory of its `.nfs*` name, if it was deleted while it was open
  std::string hidden_name{};
};

struct open_file {
  int fd = -1;
  bool is_written = false;
  std::vector<std::pair<std::string, struct stat>> entries{};  // of a directory
};

std::string path_of(const node& of) { return "/proc/self/fd/" + std::to_string(of.fd); }

/// Copies the bytes of a file. Returns an errno.
int copy(int from, int to) {
  struct stat about{};
  if (from < 0 || to < 0 || ::fstat(from, &about) != 0 || ::ftruncate(to, about.st_size) != 0) return errno;
  for (off_t at = 0; at < about.st_size;)
    if (::sendfile(to, from, &at, static_cast<std::size_t>(about.st_size - at)) <= 0) return EIO;
  return 0;
}

/// The server's attributes, with the size that the client knows.
int attributes_of(const node& of, struct stat& about) {
  if (::fstatat(of.fd, "", &about, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) return errno;
  struct stat kept{};
  if (of.kept >= 0 && ::fstat(of.kept, &kept) == 0) about.st_size = kept.st_size;
  return 0;
}

/// One mount, in the process that serves it.
class client {
 public:
  client(const std::string& backing, lies& how) : how_(how) {
    root_.fd = ::open(backing.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    root_.lookups = 2;
    if (root_.fd < 0) throw std::runtime_error("there is no directory " + backing);
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { ::close(root_.fd); }

  node& at(fuse_ino_t number) {
    return number == FUSE_ROOT_ID ? root_ : *reinterpret_cast<node*>(number);  // NOLINT
  }
  static open_file& file_of(const fuse_file_info* info) {
    return *reinterpret_cast<open_file*>(info->fh);  // NOLINT
  }

  lies& how() { return how_; }

  /// Whether the request has an error that was planned, or its node is stale: the reply is sent then.
  bool fails(fuse_req_t to, request what, const node& of) {
    const auto number = ++how_.requests;
    const auto planned = how_.fault_at.load();
    is_failing_after_ = false;
    if (planned != 0 && (number == planned || (number > planned && how_.fault_lasts))) {
      ++how_.faults;
      how_.fault_in = static_cast<unsigned>(what);
      is_failing_after_ = how_.fault_is_after;
      if (!is_failing_after_) return fuse_reply_err(to, how_.fault_error) == 0 || true;
    }
    struct stat about{};
    if (how_.stale_handles && ::fstat(of.fd, &about) == 0 && about.st_nlink == 0)
      return fuse_reply_err(to, ESTALE) == 0 || true;
    return false;
  }

  /// Does a change of names, with the lies about its reply. Returns an errno.
  template <class Deed>
  int changed(const Deed& deed) {
    const auto once = [&] { return deed() == 0 ? 0 : errno; };
    const unsigned number = ++changes_, again = how_.resend_every, error = how_.error_after_every;
    int result = once();
    if (result == 0 && again != 0 && number % again == 0) result = once();
    if (result == 0 && ((error != 0 && number % error == 0) || is_failing_after_)) result = how_.fault_error;
    return result;
  }

  /// The node of a name, with one more look-up. Returns an errno.
  int look_up(const node& in, const char* name, fuse_entry_param& entry) {
    const int fd = ::openat(in.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno;
    return enter(fd, entry);
  }

  void forget(fuse_ino_t number, std::uint64_t count) {
    if (number == FUSE_ROOT_ID) return;
    node& of = at(number);
    of.lookups -= count;
    if (of.lookups > 0) return;
    for (auto each = nodes_.begin(); each != nodes_.end(); ++each)
      if (each->second.get() == &of) {
        static_cast<void>(write_back(of));
        ::close(of.fd);
        nodes_.erase(each);
        return;
      }
  }

  /// The node of a name that is known, or null.
  node* known(const node& in, const char* name) {
    struct stat about{};
    if (::fstatat(in.fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return nullptr;
    const auto found = nodes_.find({about.st_dev, about.st_ino});
    return found == nodes_.end() ? nullptr : found->second.get();
  }

  /// Deletes a file, or hides it while it is open. 0 or -1, as unlinkat.
  int unlink(node& in, const char* name) {
    node* const of = how_.silly_renames ? known(in, name) : nullptr;
    if (of == nullptr || of->open_files == 0) return ::unlinkat(in.fd, name, 0);
    const auto hidden = ".nfs" + std::to_string(++hidden_);
    if (::renameat(in.fd, name, in.fd, hidden.c_str()) != 0) return -1;
    hold_directory(*of, in, hidden);
    return 0;
  }

  /// Before a change of the bytes of a file: has the client keep them, if it lies so. Returns an errno.
  int keep(node& of) const {
    if (!how_.keeps_writes || of.kept >= 0) return 0;
    const int from = ::open(path_of(of).c_str(), O_RDONLY | O_CLOEXEC);
    of.kept = ::memfd_create("kept", MFD_CLOEXEC);
    const int failure = copy(from, of.kept);
    ::close(from);
    return failure;
  }

  /// Where the bytes of an open file are.
  int bytes_of(fuse_ino_t number, const fuse_file_info* info) {
    const node& of = at(number);
    return of.kept >= 0 ? of.kept : file_of(info).fd;
  }

  /// Gives the server the bytes that the client has kept. Returns an errno.
  static int write_back(node& of) {
    if (of.kept < 0) return 0;
    const int to = ::open(path_of(of).c_str(), O_WRONLY | O_CLOEXEC);
    const int failure = copy(of.kept, to);
    ::close(to);
    if (failure == 0) ::close(std::exchange(of.kept, -1));
    return failure;
  }

  open_file* opened(node& of, int fd) {
    ++of.open_files;
    return new open_file{.fd = fd};
  }

  void closed(node& of, open_file* file) {
    ::close(file->fd);
    delete file;
    if (--of.open_files > 0 || of.hidden_in == nullptr) return;
    ::unlinkat(of.hidden_in->fd, of.hidden_name.c_str(), 0);
    release_directory(of);
  }

 private:
  using key = std::pair<dev_t, ino_t>;

  int enter(int fd, fuse_entry_param& entry) {
    if (::fstatat(fd, "", &entry.attr, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0) {
      const int failure = errno;
      ::close(fd);
      return failure;
    }
    auto& of = nodes_[{entry.attr.st_dev, entry.attr.st_ino}];
    if (of) {
      ::close(fd);
    } else {
      of = std::make_unique<node>();
      of->fd = fd;
    }
    static_cast<void>(attributes_of(*of, entry.attr));
    ++of->lookups;
    entry.ino = reinterpret_cast<fuse_ino_t>(of.get());  // NOLINT
    entry.entry_timeout = how_.name_seconds;
    return 0;
  }

  /// The hidden name outlives what the client knows of the directory, so a look-up is kept.
  void hold_directory(node& of, node& in, std::string name) {
    if (of.hidden_in != nullptr) release_directory(of);
    ++in.lookups;
    of.hidden_in = &in;
    of.hidden_name = std::move(name);
  }
  void release_directory(node& of) {
    node* const in = std::exchange(of.hidden_in, nullptr);
    forget(in == &root_ ? FUSE_ROOT_ID : reinterpret_cast<fuse_ino_t>(in), 1);  // NOLINT
  }

  lies& how_;
  node root_;
  std::map<key, std::unique_ptr<node>> nodes_;
  unsigned changes_ = 0, hidden_ = 0;
  bool is_failing_after_ = false;
};

client& client_of(fuse_req_t to) { return *static_cast<client*>(fuse_req_userdata(to)); }

void reply(fuse_req_t to, int failure) { fuse_reply_err(to, failure); }

void reply_name(fuse_req_t to, const node& in, const char* name) {
  fuse_entry_param entry{};
  if (const int failure = client_of(to).look_up(in, name, entry); failure != 0) return reply(to, failure);
  fuse_reply_entry(to, &entry);
}

void do_lookup(fuse_req_t to, fuse_ino_t parent, const char* name) {
  client& here = client_of(to);
  const node& in = here.at(parent);
  if (here.fails(to, request::lookup, in)) return;
  fuse_entry_param entry{};
  const int failure = here.look_up(in, name, entry);
  if (failure == ENOENT && here.how().negative_seconds != 0) {
    entry.entry_timeout = here.how().negative_seconds;
    fuse_reply_entry(to, &entry);  // number 0: not there, and remembered
    return;
  }
  failure != 0 ? reply(to, failure) : static_cast<void>(fuse_reply_entry(to, &entry));
}

void do_forget(fuse_req_t to, fuse_ino_t number, std::uint64_t count) {
  client_of(to).forget(number, count);
  fuse_reply_none(to);
}

void reply_attributes(fuse_req_t to, const node& of) {
  struct stat about{};
  if (const int failure = attributes_of(of, about); failure != 0) return reply(to, failure);
  fuse_reply_attr(to, &about, 0);
}

void do_getattr(fuse_req_t to, fuse_ino_t number, fuse_file_info*) {
  const node& of = client_of(to).at(number);
  if (!client_of(to).fails(to, request::getattr, of)) reply_attributes(to, of);
}

void do_setattr(fuse_req_t to, fuse_ino_t number, struct stat* wanted, int which, fuse_file_info*) {
  node& of = client_of(to).at(number);
  if (client_of(to).fails(to, request::setattr, of)) return;
  const auto path = path_of(of);
  int result = 0;
  if ((which & FUSE_SET_ATTR_MODE) != 0) result = ::chmod(path.c_str(), wanted->st_mode);
  if (result == 0 && (which & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0)
    result = ::chown(path.c_str(), (which & FUSE_SET_ATTR_UID) != 0 ? wanted->st_uid : static_cast<uid_t>(-1),
                     (which & FUSE_SET_ATTR_GID) != 0 ? wanted->st_gid : static_cast<gid_t>(-1));
  if (result == 0 && (which & FUSE_SET_ATTR_SIZE) != 0) {
    if (const int failure = client_of(to).keep(of); failure != 0) return reply(to, failure);
    result = of.kept >= 0 ? ::ftruncate(of.kept, wanted->st_size) : ::truncate(path.c_str(), wanted->st_size);
  }
  if (result == 0 && (which & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)) != 0) {
    timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
    if ((which & FUSE_SET_ATTR_ATIME_NOW) != 0)
      times[0].tv_nsec = UTIME_NOW;
    else if ((which & FUSE_SET_ATTR_ATIME) != 0)
      times[0] = wanted->st_atim;
    if ((which & FUSE_SET_ATTR_MTIME_NOW) != 0)
      times[1].tv_nsec = UTIME_NOW;
    else if ((which & FUSE_SET_ATTR_MTIME) != 0)
      times[1] = wanted->st_mtim;
    result = ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  }
  result != 0 ? reply(to, errno) : reply_attributes(to, of);
}

void do_mkdir(fuse_req_t to, fuse_ino_t parent, const char* name, mode_t mode) {
  client& here = client_of(to);
  const node& in = here.at(parent);
  if (here.fails(to, request::mkdir, in)) return;
  if (const int failure = here.changed([&] { return ::mkdirat(in.fd, name, mode); }); failure != 0)
    return reply(to, failure);
  reply_name(to, in, name);
}

void do_unlink(fuse_req_t to, fuse_ino_t parent, const char* name) {
  client& here = client_of(to);
  node& in = here.at(parent);
  if (here.fails(to, request::unlink, in)) return;
  reply(to, here.changed([&] { return here.unlink(in, name); }));
}

void do_rmdir(fuse_req_t to, fuse_ino_t parent, const char* name) {
  client& here = client_of(to);
  const node& in = here.at(parent);
  if (here.fails(to, request::rmdir, in)) return;
  reply(to, here.changed([&] { return ::unlinkat(in.fd, name, AT_REMOVEDIR); }));
}

void do_rename(fuse_req_t to, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
               unsigned flags) {
  client& here = client_of(to);
  const node &in = here.at(parent), &new_in = here.at(new_parent);
  if (here.fails(to, request::rename, in)) return;
  reply(to, here.changed([&] { return ::renameat2(in.fd, name, new_in.fd, new_name, flags); }));
}

int flags_of(const fuse_file_info* info) { return (info->flags & ~(O_NOFOLLOW | O_DIRECT)) | O_CLOEXEC; }

void set_file(fuse_req_t to, node& of, int fd, fuse_file_info& info) {
  info.fh = reinterpret_cast<std::uint64_t>(client_of(to).opened(of, fd));  // NOLINT
  info.direct_io = client_of(to).how().short_transfers || client_of(to).how().bad_byte >= 0 ? 1 : 0;
}

void do_create(fuse_req_t to, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
  client& here = client_of(to);
  const node& in = here.at(parent);
  if (here.fails(to, request::create, in)) return;
  const int fd = ::openat(in.fd, name, flags_of(info) | O_CREAT, mode);
  if (fd < 0) return reply(to, errno);
  fuse_entry_param entry{};
  if (const int failure = here.look_up(in, name, entry); failure != 0) {
    ::close(fd);
    return reply(to, failure);
  }
  set_file(to, here.at(entry.ino), fd, *info);
  fuse_reply_create(to, &entry, info);
}

void do_open(fuse_req_t to, fuse_ino_t number, fuse_file_info* info) {
  node& of = client_of(to).at(number);
  if (client_of(to).fails(to, request::open, of)) return;
  const int fd = ::open(path_of(of).c_str(), flags_of(info));
  if (fd < 0) return reply(to, errno);
  set_file(to, of, fd, *info);
  fuse_reply_open(to, info);
}

void do_release(fuse_req_t to, fuse_ino_t number, fuse_file_info* info) {
  client_of(to).closed(client_of(to).at(number), &client::file_of(info));
  reply(to, 0);
}

std::size_t transferred(const lies& how, std::size_t wanted) {
  return how.short_transfers && wanted > 1 ? wanted / 2 : wanted;
}

void do_read(fuse_req_t to, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info* info) {
  client& here = client_of(to);
  if (here.fails(to, request::read, here.at(number))) return;
  const auto bad = here.how().bad_byte.load();
  if (bad >= offset && bad < offset + static_cast<off_t>(size)) return reply(to, EIO);
  std::vector<char> bytes(transferred(here.how(), size));
  const auto done = ::pread(here.bytes_of(number, info), bytes.data(), bytes.size(), offset);
  done < 0 ? reply(to, errno) : static_cast<void>(fuse_reply_buf(to, bytes.data(), static_cast<std::size_t>(done)));
}

void do_write(fuse_req_t to, fuse_ino_t number, const char* bytes, std::size_t size, off_t offset,
              fuse_file_info* info) {
  client& here = client_of(to);
  if (here.fails(to, request::write, here.at(number))) return;
  if (const int failure = here.keep(here.at(number)); failure != 0) return reply(to, failure);
  auto& file = client::file_of(info);
  file.is_written = true;
  const auto done = ::pwrite(here.bytes_of(number, info), bytes, transferred(here.how(), size), offset);
  done < 0 ? reply(to, errno) : static_cast<void>(fuse_reply_write(to, static_cast<std::size_t>(done)));
}

/// The server has no space for the bytes that the client has kept.
bool is_full(const lies& how, const open_file& file) {
  if (!how.full_at_close || !file.is_written) return false;
  static_cast<void>(::ftruncate(file.fd, 0));
  return true;
}

void do_flush(fuse_req_t to, fuse_ino_t number, fuse_file_info* info) {
  client& here = client_of(to);
  if (here.fails(to, request::flush, here.at(number))) return;
  reply(to, is_full(here.how(), client::file_of(info)) ? ENOSPC : 0);
}

void do_fsync(fuse_req_t to, fuse_ino_t number, int, fuse_file_info* info) {
  client& here = client_of(to);
  if (here.fails(to, request::fsync, here.at(number))) return;
  if (is_full(here.how(), client::file_of(info))) return reply(to, ENOSPC);
  if (const int failure = client::write_back(here.at(number)); failure != 0) return reply(to, failure);
  reply(to, ::fsync(client::file_of(info).fd) == 0 ? 0 : errno);
}

void do_fallocate(fuse_req_t to, fuse_ino_t number, int mode, off_t offset, off_t length, fuse_file_info* info) {
  client& here = client_of(to);
  if (here.fails(to, request::fallocate, here.at(number))) return;
  if (here.how().no_fallocate) return reply(to, EOPNOTSUPP);
  if (const int failure = here.keep(here.at(number)); failure != 0) return reply(to, failure);
  reply(to, ::fallocate(here.bytes_of(number, info), mode, offset, length) == 0 ? 0 : errno);
}

void do_opendir(fuse_req_t to, fuse_ino_t number, fuse_file_info* info) {
  node& of = client_of(to).at(number);
  if (client_of(to).fails(to, request::opendir, of)) return;
  const int fd = ::open(path_of(of).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return reply(to, errno);
  info->fh = reinterpret_cast<std::uint64_t>(new open_file{.fd = fd});  // NOLINT
  fuse_reply_open(to, info);
}

void do_releasedir(fuse_req_t to, fuse_ino_t, fuse_file_info* info) {
  open_file* const file = &client::file_of(info);
  ::close(file->fd);
  delete file;
  reply(to, 0);
}

/// All entries as they are now.
void list(open_file& directory) {
  directory.entries.clear();
  const int fd = ::openat(directory.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) return;
  while (const dirent* each = ::readdir(stream)) {
    struct stat about{};
    about.st_ino = each->d_ino;
    about.st_mode = static_cast<mode_t>(each->d_type) << 12U;
    directory.entries.emplace_back(each->d_name, about);
  }
  ::closedir(stream);
}

void do_readdir(fuse_req_t to, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info* info) {
  if (client_of(to).fails(to, request::readdir, client_of(to).at(number))) return;
  auto& directory = client::file_of(info);
  if (offset == 0) list(directory);
  std::vector<char> bytes(size);
  std::size_t used = 0;
  for (auto next = static_cast<std::size_t>(offset); next < directory.entries.size(); ++next) {
    const auto& [name, about] = directory.entries[next];
    const auto taken =
        fuse_add_direntry(to, bytes.data() + used, size - used, name.c_str(), &about, static_cast<off_t>(next + 1));
    if (taken > size - used) break;
    used += taken;
  }
  fuse_reply_buf(to, bytes.data(), used);
}

void do_fsyncdir(fuse_req_t to, fuse_ino_t number, int, fuse_file_info* info) {
  if (client_of(to).fails(to, request::fsyncdir, client_of(to).at(number))) return;
  reply(to, ::fsync(client::file_of(info).fd) == 0 ? 0 : errno);
}

void do_statfs(fuse_req_t to, fuse_ino_t number) {
  struct statvfs about{};
  if (::fstatvfs(client_of(to).at(number).fd, &about) != 0) return reply(to, errno);
  fuse_reply_statfs(to, &about);
}

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops all{};
  all.lookup = do_lookup;
  all.forget = do_forget;
  all.getattr = do_getattr;
  all.setattr = do_setattr;
  all.mkdir = do_mkdir;
  all.unlink = do_unlink;
  all.rmdir = do_rmdir;
  all.rename = do_rename;
  all.create = do_create;
  all.open = do_open;
  all.release = do_release;
  all.read = do_read;
  all.write = do_write;
  all.flush = do_flush;
  all.fsync = do_fsync;
  all.fallocate = do_fallocate;
  all.opendir = do_opendir;
  all.releasedir = do_releasedir;
  all.readdir = do_readdir;
  all.fsyncdir = do_fsyncdir;
  all.statfs = do_statfs;
  return all;
}

}  // namespace

lying_mount::lying_mount(const std::string& backing, const std::string& at) {
  void* const memory = ::mmap(nullptr, sizeof(lies), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  lies_ = new (memory) lies;
  try {
    client served(backing, *lies_);
    server_ = std::make_unique<fuse_server>(at, operations(), &served);  // the process of the server has its own copy
  } catch (...) {
    ::munmap(lies_, sizeof(lies));
    throw;
  }
}

lying_mount::~lying_mount() {
  server_.reset();
  ::munmap(lies_, sizeof(lies));
}

void tell(lies& to, std::string_view names) {
  while (!names.empty()) {
    const auto end = std::min(names.find('+'), names.size());
    const auto name = names.substr(0, end);
    names.remove_prefix(std::min(end + 1, names.size()));
    const bool is_nfs = name == "nfs";
    if (name == "silly_renames" || is_nfs) to.silly_renames = true;
    if (name == "stale_handles" || is_nfs) to.stale_handles = true;
    if (name == "no_fallocate" || is_nfs) to.no_fallocate = true;
    if (name == "short_transfers") to.short_transfers = true;
    if (name == "keeps_writes") to.keeps_writes = true;
    if (name == "resends") to.resend_every = 3;
    if (name == "cached_names") to.negative_seconds = to.name_seconds = 3600;
    if (name == "briefly_cached_names") to.negative_seconds = to.name_seconds = 1;
    constexpr std::string_view all[] = {"silly_renames", "stale_handles",   "no_fallocate",
                                        "nfs",           "short_transfers", "keeps_writes",
                                        "resends",       "cached_names",    "briefly_cached_names"};
    if (std::find(std::begin(all), std::end(all), name) == std::end(all))
      throw std::invalid_argument("no lie " + std::string(name));
  }
}

std::string_view name_of(request what) { return request_names[static_cast<std::size_t>(what)]; }

}  // namespace filesystems
