// SPDX-License-Identifier: MIT
#include "cairn/store/file_sink.hpp"

#include <cerrno>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "catch.hpp"
#include "store/sample.hpp"

TEST_CASE("any range of a file") {
  std::mt19937_64 random(1);
  const sample::scratch scratch;
  std::string text(50'000, '\0');
  for (auto& c : text) c = static_cast<char>(random());
  sample::spill(scratch.path("f"), text);
  const auto source = cairn::stores::detail::open_file(scratch.path("f"));
  REQUIRE(source->size() == text.size());
  for (int round = 0; round < 300; ++round) {
    const auto offset = random() % (text.size() + 1), length = random() % (text.size() - offset + 1);
    CHECK(cairn::stores::read_text(*source, offset, length) == text.substr(offset, length));
  }
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

TEST_CASE("a file that is not in the page cache asks for more threads, one that is does not") {
  const sample::scratch scratch;
  const auto path = scratch.path("f");
  sample::spill(path, std::string(8 << 20, 'x'));
  const auto source = cairn::stores::detail::open_file(path);
  const int file = ::open(path.c_str(), O_RDONLY);
  constexpr off_t at = 4 << 20;
  CHECK(source->readers(at) == 0);
  REQUIRE(::fsync(file) == 0);
  REQUIRE(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
  std::byte byte{};
  const iovec into{&byte, 1};
  const bool is_cached = ::preadv2(file, &into, 1, at, RWF_NOWAIT) >= 0 || errno != EAGAIN;  // in memory, or not known
  CHECK(source->readers(at) == (is_cached ? 0 : 8));
  ::close(file);
}
