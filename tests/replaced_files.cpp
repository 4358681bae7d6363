// SPDX-License-Identifier: MIT
#include "cairn/exchange/replaced_files.hpp"

#include "catch.hpp"
#include "store/sample.hpp"

using cairn::stores::detail::replaced_files;

namespace {

void write(replaced_files& files, const std::string& name, std::string_view text) {
  auto file = files.make(name, text.size());
  const std::span<const std::byte> bytes[] = {std::as_bytes(std::span(text))};
  file.write(0, bytes);
  file.finish();
}

}  // namespace

TEST_CASE("new files replace those of their names when they are published, and not before") {
  const bool durable = GENERATE(true, false);
  const sample::scratch scratch;
  std::ofstream(scratch.path("a")) << "old";
  std::ofstream(scratch.path("c")) << "other";
  replaced_files files(scratch.path(), durable);
  write(files, "a", "new a");
  write(files, "b", "new b");
  CHECK(sample::slurp(scratch.path("a")) == "old");
  CHECK_FALSE(std::filesystem::exists(scratch.path("b")));
  for (const auto& name : sample::names_in(scratch.path()))
    CHECK((name == "a" || name == "c" || name.starts_with(".tmp-")));
  files.publish();
  CHECK(sample::slurp(scratch.path("a")) == "new a");
  CHECK(sample::slurp(scratch.path("b")) == "new b");
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "b", "c"});
  files.remove([](std::string_view name) { return name == "c"; });
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("new files that are not published go, also where only some could be") {
  const sample::scratch scratch;
  std::filesystem::create_directories(scratch.path("b/not empty"));
  {
    replaced_files files(scratch.path(), false);
    write(files, "a", "new a");
  }
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"b"});
  {
    replaced_files files(scratch.path(), false);
    for (const char* name : {"a", "b", "c"}) write(files, name, "new");
    const auto failure = sample::failure_of([&] { files.publish(); });
    CHECK(failure.code == cairn::errc::io);
    CHECK(failure.says(scratch.path("b")));
  }
  CHECK(sample::names_in(scratch.path()) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("new files need a directory") {
  const sample::scratch scratch;
  const auto failure = sample::failure_of([&] { replaced_files(scratch.path("none"), false); });
  CHECK(failure.code == cairn::errc::io);
  CHECK(failure.says(scratch.path("none")));
}
