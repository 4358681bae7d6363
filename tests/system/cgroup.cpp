// SPDX-License-Identifier: MIT
#include "cairn/system/memory.hpp"

#include <filesystem>
#include <limits>
#include <string>

#include "catch.hpp"
#include "store/sample.hpp"

namespace {

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

/// A tree of cgroups.
struct tree {
  sample::scratch root;

  void limit(const std::string& group, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(root.path(group.empty() ? "." : group));
    sample::spill(root.path(group.empty() ? file : group + "/" + file), text + "\n");
  }
  [[nodiscard]] std::uint64_t of(const std::string& membership, std::uint64_t swap = 0) const {
    return cairn::detail::memory_of_cgroups(membership, root.path(), swap).most;
  }
};

}  // namespace

TEST_CASE("without a limit there is none") {
  tree groups;
  CHECK(groups.of("") == unlimited);
  CHECK(groups.of("0::/a/b\n") == unlimited);
  CHECK(groups.of("no cgroup\n:\n0:\n") == unlimited);
  CHECK(groups.of("0::no slash\n") == unlimited);
  groups.limit("a", "memory.max", "max");
  CHECK(groups.of("0::/a\n", 1000) == unlimited);
}

TEST_CASE("the least limit on the way to the root counts, with swap") {
  tree groups;
  groups.limit("a/b", "memory.max", "5000");
  groups.limit("a", "memory.max", "3000");
  groups.limit("c", "memory.max", "100");
  CHECK(groups.of("0::/a/b\n") == 3000);
  CHECK(groups.of("0::/a\n") == 3000);
  CHECK(groups.of("0::/\n") == unlimited);
  CHECK(groups.of("0::/a/b", 500) == 3500);
  groups.limit("a", "memory.swap.max", "200");
  CHECK(groups.of("0::/a/b", 500) == 3200);
  groups.limit("a/b", "memory.max", "1000");
  groups.limit("a/b", "memory.swap.max", "0");
  CHECK(groups.of("0::/a/b", 500) == 1000);
}

TEST_CASE("in a container, whose own group is the root, that group's limit counts") {
  tree groups;
  groups.limit("", "memory.max", "700");
  CHECK(groups.of("0::/\n") == 700);
  CHECK(groups.of("0::/not/seen/here\n") == 700);
  CHECK(groups.of("0::/../../elsewhere\n") == 700);
}

TEST_CASE("version 1 has the memory of its own hierarchy") {
  tree groups;
  groups.limit("memory/job/7", "memory.limit_in_bytes", "4096");
  groups.limit("memory/job", "memory.limit_in_bytes", "9223372036854771712");
  groups.limit("cpu/job/7", "memory.limit_in_bytes", "1");
  CHECK(groups.of("4:cpu:/job/7\n3:hugetlb,memory,pids:/job/7\n0::/\n") == 4096);
  CHECK(groups.of("4:cpu:/job/7\n3:memory:/job\n0::/\n") == 9223372036854771712U);
  CHECK(groups.of("3:memory_other:/job/7\n") == unlimited);
}

TEST_CASE("this process has a limit or none, and that is not 0") { CHECK(cairn::detail::machine_memory() > 0); }

TEST_CASE("what is left of a limit: file pages that can be reclaimed are not in use") {
  tree groups;
  const auto left = [&](const std::string& membership) {
    return cairn::detail::memory_of_cgroups(membership, groups.root.path(), 0).left;
  };
  CHECK(left("0::/a/b\n").bytes == unlimited);
  groups.limit("a/b", "memory.max", "5000");
  CHECK(left("0::/a/b\n").bytes == unlimited);  // the use is not known
  groups.limit("a/b", "memory.current", "3000");
  CHECK(left("0::/a/b\n").bytes == 2000);
  groups.limit("a/b", "memory.stat", "anon 1\nactive_file 500\ninactive_file 1000\nslab 7");
  CHECK(left("0::/a/b\n").bytes == 3000);
  CHECK(left("0::/a/b\n").of == groups.root.path("a/b/memory.max"));
  groups.limit("a", "memory.max", "4000");
  groups.limit("a", "memory.current", "4100");
  CHECK(left("0::/a/b\n").bytes == 0);
  CHECK(left("0::/a/b\n").of == groups.root.path("a/memory.max"));
  groups.limit("memory/job", "memory.limit_in_bytes", "800");
  groups.limit("memory/job", "memory.usage_in_bytes", "300");
  groups.limit("memory/job", "memory.stat", "inactive_file 250\ntotal_inactive_file 100\n");
  CHECK(left("4:memory:/job/7\n").bytes == 600);
}
