// SPDX-License-Identifier: MIT
// A user's program that needs cairn::parity.
#include <cairn/cairn.hpp>
#include <cairn/parity.hpp>

int main() {
  const cairn::any_store store = cairn::each_host{"disk", {.parity = cairn::parity{.hosts = 4, .lost = 2}}};
  try {
    const cairn::each_host_options options{.parity = cairn::parity{.hosts = 2, .lost = 2}};
  } catch (const cairn::error& failure) {
    return failure.code() == cairn::errc::invalid && store.location().ends_with("disk") ? 0 : 1;
  }
  return 1;
}
