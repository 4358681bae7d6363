// SPDX-License-Identifier: MIT
// The command copy: a checkpoint, with all that it is built on, to another run, such as one in a bucket.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/inspect.hpp"
#include "cairn/levels/copy.hpp"
#include "commands.hpp"
#include "interrupts.hpp"
#include "json.hpp"
#include "place.hpp"
#include "printing.hpp"

namespace program {

int copy(const std::string& checkpoint, const std::string& run, bool json) {
  const auto what = stored_at(checkpoint);
  if (!what) cairn::fail(cairn::errc::invalid, {"copy takes a checkpoint or a run; ", checkpoint, " is a file"});
  static_cast<void>(cairn::open(what->run, what->name));  // with all that it is built on
  auto to = run_at(run);
  const interrupts signals;
  const auto lock = to.lock();  // errc::busy while a trainer saves there
  const auto names = to.list();
  auto missing = cairn::detail::missing_at(to, names, what->run, what->name, [] { interrupts::check(); });
  for (const auto& each : missing)
    if (std::ranges::find(names, each) != names.end())
      cairn::fail(cairn::errc::invalid, {to.location(), " has another ", each, ": choose another place"});
  const auto count = missing.size();
  std::atomic<std::uint64_t> bytes{0};
  const progress shown(2 * bytes_at(checkpoint), json);
  for (; !missing.empty(); missing.pop_back())
    cairn::detail::copy_checkpoint(what->run, missing.back(), to, [&](std::uint64_t more) {
      bytes += more;
      interrupts::check("what was copied as a whole stays");
    });
  if (json)
    print({{"name", what->name}, {"to", to.location()}, {"copied", count}, {"bytes", bytes.load()}});
  else if (count == 0)
    std::cout << printable(to.location()) << " has " << printable(what->name) << " already\n";
  else
    std::cout << "copied " << count_text(count, "checkpoint") << " to " << printable(to.location()) << ", "
              << size_text(bytes) << '\n';
  return 0;
}

}  // namespace program
