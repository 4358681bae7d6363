// SPDX-License-Identifier: MIT
#include "durability/filesystems/recorded_disk.hpp"

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sample.hpp"
#include "standard.hpp"

namespace filesystems {

namespace {

constexpr fuse_ino_t disk_number = 2;

/// In the process of the server.
struct served_disk {
  int image = -1, log = -1;
  std::atomic<std::size_t>* requests = nullptr;

  /// Two numbers, and the bytes. False if they cannot be written.
  bool note(std::uint64_t offset, const char* bytes, std::uint64_t count) const {
    const std::uint64_t head[] = {offset, count};
    const bool is_noted = ::write(log, head, sizeof head) == static_cast<ssize_t>(sizeof head) &&
                          ::write(log, bytes, count) == static_cast<ssize_t>(count);
    ++*requests;
    return is_noted;
  }
};

const served_disk& disk_of(fuse_req_t to) { return *static_cast<served_disk*>(fuse_req_userdata(to)); }

struct stat attributes_of(fuse_req_t to, fuse_ino_t number) {
  struct stat about{};
  if (number == disk_number) ::fstat(disk_of(to).image, &about);
  about.st_ino = number;
  if (number != disk_number) about.st_mode = S_IFDIR | 0755U;
  about.st_nlink = 1;
  return about;
}

void do_lookup(fuse_req_t to, fuse_ino_t, const char* name) {
  fuse_entry_param entry{};
  entry.ino = std::strcmp(name, "disk") == 0 ? disk_number : 0;
  entry.attr = attributes_of(to, entry.ino);
  entry.attr_timeout = entry.entry_timeout = 3600;
  entry.ino != 0 ? fuse_reply_entry(to, &entry) : fuse_reply_err(to, ENOENT);
}

void do_getattr(fuse_req_t to, fuse_ino_t number, fuse_file_info*) {
  const auto about = attributes_of(to, number);
  fuse_reply_attr(to, &about, 3600);
}

void do_read(fuse_req_t to, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info*) {
  std::string bytes(size, '\0');
  const auto done = ::pread(disk_of(to).image, bytes.data(), size, offset);
  done < 0 ? fuse_reply_err(to, errno) : fuse_reply_buf(to, bytes.data(), static_cast<std::size_t>(done));
}

void do_write(fuse_req_t to, fuse_ino_t, const char* bytes, std::size_t size, off_t offset, fuse_file_info*) {
  const auto& disk = disk_of(to);
  const bool is_done = disk.note(static_cast<std::uint64_t>(offset), bytes, size) &&
                       ::pwrite(disk.image, bytes, size, offset) == static_cast<ssize_t>(size);
  is_done ? fuse_reply_write(to, size) : fuse_reply_err(to, EIO);
}

void do_fsync(fuse_req_t to, fuse_ino_t, int, fuse_file_info*) {
  fuse_reply_err(to, disk_of(to).note(0, "", 0) ? 0 : EIO);
}

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops all{};
  all.lookup = do_lookup;
  all.getattr = do_getattr;
  all.read = do_read;
  all.write = do_write;
  all.fsync = do_fsync;
  return all;
}

}  // namespace

recorded_disk::recorded_disk(const std::string& backing, const std::string& log, const std::string& at) : log_(log) {
  using counter = std::atomic<std::size_t>;
  void* const memory = ::mmap(nullptr, sizeof(counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  requests_ = new (memory) counter(0);
  served_disk disk{.image = ::open(backing.c_str(), O_RDWR | O_CLOEXEC),
                   .log = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
                   .requests = requests_};
  try {
    server_ = std::make_unique<fuse_server>(at, operations(), &disk);
  } catch (...) {
    ::munmap(requests_, sizeof(counter));
    throw;
  }
  ::close(disk.image);
  ::close(disk.log);
}

recorded_disk::~recorded_disk() {
  server_.reset();
  ::munmap(requests_, sizeof *requests_);
}

std::vector<disk_request> recorded_disk::log() const {
  std::ifstream file(log_, std::ios::binary);
  std::vector<disk_request> all;
  std::uint64_t head[2];
  while (file.read(reinterpret_cast<char*>(head), sizeof head)) {
    all.push_back({head[0], std::string(head[1], '\0')});
    if (!file.read(all.back().bytes.data(), static_cast<std::streamsize>(head[1])))
      throw std::runtime_error(log_ + " ends too early");
  }
  return all;
}

disk_image::disk_image(const std::string& file) {
  const auto bytes = sample::slurp(file);
  size_ = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += page) {
    auto part = bytes.substr(at, page);
    if (part.find_first_not_of('\0') != part.npos) pages_[at / page] = std::move(part);
  }
}

void disk_image::apply(std::uint64_t offset, const char* bytes, std::size_t count) {
  while (count > 0) {
    auto& to = pages_[offset / page];
    to.resize(page);
    const auto at = offset % page;
    const auto part = std::min<std::size_t>(count, page - at);
    to.replace(at, part, bytes, part);
    offset += part;
    bytes += part;
    count -= part;
  }
}

disk_image disk_image::crashed(const std::vector<disk_request>& log, std::size_t count, lost how,
                               std::mt19937_64& random) const {
  auto left = *this;
  std::size_t flushed = count;
  while (flushed > 0 && !log[flushed - 1].bytes.empty()) --flushed;
  for (std::size_t i = 0; i < flushed; ++i) left.apply(log[i].offset, log[i].bytes.data(), log[i].bytes.size());
  if (how == lost::all) return left;
  for (std::size_t i = flushed; i < count; ++i) {
    const auto& [offset, bytes] = log[i];
    for (std::size_t at = 0; at < bytes.size();) {
      const auto part = how == lost::some ? bytes.size() : std::min(bytes.size() - at, page - (offset + at) % page);
      if (random() % 2 == 0) left.apply(offset + at, bytes.data() + at, part);
      at += part;
    }
  }
  return left;
}

void disk_image::write(const std::string& file) const {
  const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool is_written = to >= 0 && ::ftruncate(to, static_cast<off_t>(size_)) == 0;
  for (const auto& [number, bytes] : pages_)
    is_written = is_written && ::pwrite(to, bytes.data(), bytes.size(), static_cast<off_t>(number * page)) ==
                                   static_cast<ssize_t>(bytes.size());
  ::close(to);
  if (!is_written) throw std::runtime_error("cannot write " + file);
}

}  // namespace filesystems
