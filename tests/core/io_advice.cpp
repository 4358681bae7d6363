// SPDX-License-Identifier: MIT
#include "cairn/core/error.hpp"

#include <sys/stat.h>

#include "catch.hpp"
#include "child.hpp"
#include "in_scratch.hpp"

using cairn::detail::io_advice;
using cairn::detail::missing_advice;
using tests::in_scratch;

TEST_CASE_METHOD(in_scratch, "a path that is not there: the highest directory that is missing") {
  CHECK(missing_advice(scratch.path()).empty());
  CHECK(missing_advice(scratch.path("a")) == "; " + scratch.path("a") + " is not there");
  CHECK(missing_advice(scratch.path("a/b/c")) == "; " + scratch.path("a") + " is not there");
  CHECK(missing_advice("memory").empty());
  CHECK(missing_advice("").empty());
  CHECK(missing_advice("/").empty());
}

TEST_CASE("a full disk: the bytes that are free; a limit: its number; nothing where there is nothing to say") {
  const sample::scratch scratch;
  for (const auto* path : {"", "a", "a/b/c"}) {
    const auto advice = io_advice(scratch.path(path), ENOSPC);
    CHECK(advice.starts_with("; "));
    CHECK(advice.ends_with(" bytes are free"));
  }
  CHECK(io_advice("x", EMFILE).find("raise the limit (ulimit -n)") != std::string::npos);
  for (const int number : {ENOENT, EIO, EINVAL}) CHECK(io_advice(scratch.path(), number).empty());
  CHECK(io_advice("not/there", ENOSPC).empty());
  CHECK(io_advice("", EACCES).empty());
}

TEST_CASE("a disk without inodes, and a quota, are said to be that") {
  CHECK(io_advice("x", EDQUOT).find("quota -s") != std::string::npos);
  const sample::scratch scratch;
  const auto command = "mount -t tmpfs -o nr_inodes=2 tmpfs " + scratch.path() + " 2>/dev/null";
  if (::geteuid() != 0 || std::system(command.c_str()) != 0) SKIP("no file system can be mounted here");
  sample::spill(scratch.path("a"), "x");
  const auto advice = io_advice(scratch.path("b"), ENOSPC);
  CHECK(std::system(("umount -l " + scratch.path()).c_str()) == 0);
  CHECK(advice.starts_with("; no inodes are free"));
}

TEST_CASE_METHOD(in_scratch, "not a directory: what is in the way") {
  sample::spill(scratch.path("file"), "x");
  std::filesystem::create_symlink(scratch.path(), scratch.path("link"));
  CHECK(io_advice(scratch.path("file/a/b"), ENOTDIR) ==
        "; " + scratch.path("file") + " is no directory: give another path, or move it away");
  CHECK(io_advice(scratch.path("link"), ENOTDIR) ==
        "; " + scratch.path("link") + " is no directory: give another path, or move it away");
  CHECK(io_advice(scratch.path("link"), ELOOP) ==
        "; " + scratch.path("link") + " is no directory: give another path, or move it away");
  CHECK(io_advice(scratch.path(), ENOTDIR).empty());
  CHECK(io_advice(scratch.path("a"), ENOTDIR).empty());
}

TEST_CASE_METHOD(in_scratch, "no permission: whose it is, if it belongs to somebody else") {
  CHECK(io_advice(scratch.path("a"), EACCES).empty());
  if (::geteuid() != 0) SKIP("not root");
  const auto said = tests::in_child([&] {
    if (::seteuid(65534) != 0) ::_exit(2);
    cairn::fail(cairn::errc::io, {"x", io_advice(scratch.path("a/b"), EACCES)});
  });
  CHECK(said.says("x; " + scratch.path() + " belongs to user 0, and this process runs as user 65534"));
}
