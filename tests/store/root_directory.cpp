// SPDX-License-Identifier: MIT
#include "cairn/store/root_directory.hpp"

#include <filesystem>
#include <set>
#include <string>

#include "catch.hpp"
#include "store/sample.hpp"

namespace fs = std::filesystem;
using namespace cairn::stores::detail;

namespace {

open_directory open(const std::string& path) {
  return {path, cairn::posix::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)};
}

}  // namespace

TEST_CASE("a checkpoint is told from the files of others") {
  const sample::scratch scratch;
  const auto here = open(scratch.path());
  const auto shard = cairn::detail::shard_file(0, 1);
  CHECK_FALSE(holds_checkpoint(here));
  CHECK_NOTHROW(require_own(here));  // nothing is there
  sample::spill(scratch.path("index.json"), "{}");
  CHECK_FALSE(holds_checkpoint(here));
  CHECK(sample::failure_of([&] { require_own(here); }).says("is no checkpoint and holds \"index.json\""));
  sample::spill(scratch.path(shard), "x");
  CHECK(holds_checkpoint(here));  // a damaged one
  sample::spill(scratch.path("notes.txt"), "x");
  CHECK_FALSE(holds_checkpoint(here));
  sample::spill(scratch.path("index.json"), std::string(cairn::detail::index_opening) + "0123");
  CHECK(holds_checkpoint(here));
  CHECK_NOTHROW(require_own(here));
}

TEST_CASE("older generations are removed where a newer one is published, and files of others stay") {
  const sample::scratch scratch;
  const auto root = open(scratch.path());
  const auto shard = cairn::detail::shard_file(0, 1);
  const auto make = [&](const std::string& name, const std::vector<std::string>& files) {
    fs::create_directories(scratch.path(name));
    for (const auto& file : files)
      sample::spill(scratch.path(name + "/" + file), file == "index.json" ? cairn::detail::index_opening : "x");
  };
  make("a", {"index.json", shard, "notes.txt"});
  make("a~2", {shard});  // its removal has begun
  make("a~4", {"index.json"});
  make("a~5", {"notes.txt"});  // of somebody else
  make("b~3", {"index.json"});
  make("b~9", {shard});  // not published
  make("web", {});
  sample::spill(scratch.path("web/index.json"), R"({"name": "a web project"})");
  make("web~2", {"index.json"});
  CHECK(newest_directory(root, "a") == "a~4");
  CHECK(newest_directory(root, "c") == "c");
  const std::vector<generation> published{{"a", 1}, {"a", 4}, {"b", 3}, {"web", 2}};
  CHECK(publications(root) == published);
  recover(root, {.name = "b"});
  CHECK(publications(root) == published);
  recover(root, {});
  CHECK(publications(root) == std::vector<generation>{{"a", 4}, {"b", 3}, {"web", 2}});
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "a~4", "a~5", "b~3", "b~9", "web", "web~2"});
  CHECK(sample::names_in(scratch.path("a")) == std::vector<std::string>{"notes.txt"});
  CHECK(sample::names_in(scratch.path("web")) == std::vector<std::string>{"index.json"});
}

TEST_CASE("what another machine writes is left alone until it has been silent") {
  const sample::scratch scratch;
  const auto root = open(scratch.path());
  const std::string left = ".tmp-a.aaaaaaaabbbbbbbb01234567";
  fs::create_directories(scratch.path(left));
  sample::spill(scratch.path(left + "/" + cairn::detail::shard_file(0, 1)), "x");
  const auto now = time_of(root.fd.get(), root.path);
  const auto is_there = [&] { return fs::exists(scratch.path(left)); };
  CHECK(recover(root, {}).empty());
  CHECK(recover(root, {.former_writer = "aaaaaaaacccccccc", .before = now - std::chrono::hours(1)}).empty());
  CHECK(is_there());
  fs::last_write_time(scratch.path(left), fs::file_time_type::clock::now() - std::chrono::hours(2));
  recover(root, {.before = now - std::chrono::hours(1)});
  CHECK(is_there());  // its shard is being written
  SECTION("a file of it is old, too") {
    fs::last_write_time(scratch.path(left + "/" + cairn::detail::shard_file(0, 1)),
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
    fs::last_write_time(scratch.path(left), fs::file_time_type::clock::now() - std::chrono::hours(2));
    recover(root, {});
    CHECK(is_there());
    recover(root, {.before = now - std::chrono::hours(1)});
    CHECK_FALSE(is_there());
  }
  SECTION("it is of a dead owner") {
    recover(root, {.former_writer = "aaaaaaaabbbbbbbb"});
    CHECK_FALSE(is_there());
  }
  SECTION("it is of a process that is not known") {
    const std::string unknown = ".tmp-a.aaaaaaaa0000000001234567";
    fs::rename(scratch.path(left), scratch.path(unknown));
    for (const std::string former : {"", "aaaaaaaa", "aaaaaaaa00000000"}) recover(root, {.former_writer = former});
    CHECK(fs::exists(scratch.path(unknown)));
    fs::rename(scratch.path(unknown), scratch.path(left));
  }
  SECTION("it is of this machine, and not locked") {
    const auto own = new_hidden_name(root, "a");
    fs::rename(scratch.path(left), scratch.path(own));
    recover(root, {});
    CHECK_FALSE(fs::exists(scratch.path(own)));
  }
}

using namespace cairn::stores::detail;
