// SPDX-License-Identifier: MIT
#include "cairn/import/import_memory.hpp"

#include <cstdint>

#include "cairn/core/error.hpp"
#include "catch.hpp"
#include "store/sample.hpp"

using cairn::errc;
using cairn::detail::import_memory;

TEST_CASE("an import may take 256 MiB, or 24 times the bytes of its files") {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
  const auto refused = [](std::uint64_t file, std::uint64_t bytes) {
    return sample::failure_of([&] {
      import_memory memory;
      memory.add_file(file);
      memory.take(bytes / 2, "a.pt");
      memory.take(bytes - bytes / 2, "a.pt");
    });
  };
  CHECK(refused(0, 256 * mib).sentence.empty());
  CHECK(refused(100, 256 * mib + 1).code == errc::no_memory);
  CHECK(refused(100, 256 * mib + 1).says("a.pt: an import would need 268435457 bytes of memory, more than 24 times"));
  CHECK(refused(20 * mib, 24 * 20 * mib).sentence.empty());
  CHECK(refused(20 * mib, 24 * 20 * mib + 24).code == errc::no_memory);
  CHECK(refused(~std::uint64_t{0}, ~std::uint64_t{0}).says("more than the memory of this machine"));
}
