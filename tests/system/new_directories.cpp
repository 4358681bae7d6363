// SPDX-License-Identifier: MIT
#include "cairn/system/posix.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::detail::new_directories;

namespace {

void make(const std::string& path, bool is_kept) {
  new_directories above(path);
  std::filesystem::create_directories(path);
  if (is_kept) above.keep();
}

}  // namespace

TEST_CASE("directories that were missing are removed unless they are kept") {
  const sample::scratch scratch;
  const auto is_there = [&](const char* name) { return std::filesystem::exists(scratch.path(name)); };
  make(scratch.path("a/b/c"), false);
  CHECK_FALSE(is_there("a"));
  make(scratch.path("a"), true);
  make(scratch.path("a/b/c/"), false);
  CHECK(is_there("a"));
  CHECK_FALSE(is_there("a/b"));
  make(scratch.path("a"), false);  // it was there before
  CHECK(is_there("a"));
}

TEST_CASE("a directory that is not empty stays, and those above it") {
  const sample::scratch scratch;
  {
    const new_directories above(scratch.path("a/b/c"));
    std::filesystem::create_directories(scratch.path("a/b/c"));
    std::ofstream(scratch.path("a/b/file")) << "text";
  }
  CHECK(std::filesystem::exists(scratch.path("a/b/file")));
  CHECK_FALSE(std::filesystem::exists(scratch.path("a/b/c")));
}
