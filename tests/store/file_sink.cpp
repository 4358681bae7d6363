// SPDX-License-Identifier: MIT
#include "cairn/store/file_sink.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cairn/system/posix.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

namespace {

bool refuses_direct = false;  // NOLINT: with EINVAL, as file systems do that find out late

}  // namespace

extern "C" ssize_t pwrite(int file, const void* from, std::size_t count, off_t offset) {
  if (refuses_direct && (::fcntl(file, F_GETFL) & O_DIRECT) != 0) {
    errno = EINVAL;
    return -1;
  }
  return ::syscall(SYS_pwrite64, file, from, count, offset);
}

using cairn::stores::detail::file_mode;
using cairn::stores::detail::file_sink;

TEST_CASE("every mode gives the same file") {
  const sample::scratch scratch;
  const auto root = cairn::posix::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
  alignas(4096) static std::byte text[10'000];
  for (std::size_t i = 0; i < sizeof text; ++i) text[i] = static_cast<std::byte>(i * 7);
  for (const auto mode : {file_mode::cached, file_mode::synced, file_mode::direct}) {
    file_sink out(root.get(), "f", "f", sizeof text, mode);
    const cairn::stores::buffer tail[] = {{text + 4096, sizeof text - 4096}}, head[] = {{text, 4096}};
    out.write(4096, tail);
    out.write(0, head);
    out.finish();
    CHECK(sample::slurp(scratch.path("f")) == sample::text_of(text));
    std::filesystem::remove(scratch.path("f"));
  }
}

TEST_CASE("a direct write that is not aligned is refused") {
  const sample::scratch scratch;
  const auto root = cairn::posix::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
  file_sink out(root.get(), "f", "x/f", 8192, file_mode::direct);
  if (out.alignment() == 1) SKIP("no direct I/O here");
  alignas(4096) static std::byte text[8192];
  const cairn::stores::buffer skewed[] = {{text + 1, 4096}}, aligned[] = {{text, 4096}};
  CHECK(sample::failure_of([&] { out.write(0, skewed); }).says("x/f"));
  CHECK(sample::failure_of([&] { out.write(512, aligned); }).code == cairn::errc::invalid);
}

TEST_CASE("an existing file is not overwritten") {
  const sample::scratch scratch;
  const auto root = cairn::posix::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
  sample::spill(scratch.path("f"), "old");
  for (const auto mode : {file_mode::cached, file_mode::direct})
    CHECK(sample::failure_of([&] { file_sink(root.get(), "f", "x/f", 1, mode); }).says("cannot create x/f"));
  CHECK(sample::slurp(scratch.path("f")) == "old");
}

TEST_CASE("a file system that refuses direct I/O at the first write gets writes through the page cache") {
  const sample::scratch scratch;
  const auto root = cairn::posix::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
  alignas(4096) static std::byte text[10'000];
  for (std::size_t i = 0; i < sizeof text; ++i) text[i] = static_cast<std::byte>(i * 5);
  file_sink out(root.get(), "f", "f", sizeof text, file_mode::direct);
  const cairn::stores::buffer head[] = {{text, 4096}}, tail[] = {{text + 4096, sizeof text - 4096}};
  refuses_direct = true;
  out.write(0, head);
  out.write(4096, tail);
  out.finish();
  refuses_direct = false;
  CHECK(sample::slurp(scratch.path("f")) == sample::text_of(text));
}

TEST_CASE("the error of a disk that is too small names the space that is free afterwards") {
  const sample::scratch scratch;
  const auto image = scratch.path("image"), mounted = scratch.path("mounted");
  std::filesystem::create_directory(mounted);
  const auto command = "truncate -s 16M " + image + " && mkfs.ext4 -q " + image + " && mount -o loop " + image + ' ' +
                       mounted + " 2>/dev/null";
  if (::geteuid() != 0 || std::system(command.c_str()) != 0) SKIP("no file system can be mounted here");
  sample::failure failure;
  {
    const auto root = cairn::posix::open_at(AT_FDCWD, mounted, O_RDONLY | O_DIRECTORY);
    failure = sample::failure_of(
        [&] { file_sink(root.get(), "f", mounted + "/f", std::uint64_t{100} << 20U, file_mode::synced); });
  }
  CHECK(std::system(("umount -l " + mounted).c_str()) == 0);
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says("No space left on device"));
  CHECK_FALSE(failure.says("; 0 bytes are free"));  // ext4 keeps what a call that fails has reserved
}

TEST_CASE("what is no file cannot be opened") {
  const sample::scratch scratch;
  const auto code = [&](std::string_view name) {
    return sample::failure_of([&] { static_cast<void>(cairn::stores::detail::open_file(scratch.path(name))); }).code;
  };
  CHECK(code("nothing") == cairn::errc::not_found);
  CHECK(code(".") == cairn::errc::corrupt);
  REQUIRE(::mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK(code("pipe") == cairn::errc::corrupt);
}
