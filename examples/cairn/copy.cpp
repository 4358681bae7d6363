// SPDX-License-Identifier: MIT
// The command copy: a checkpoint, with all that it is built on, to another run, such as one in a bucket.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/inspect.hpp"
#include "cairn/levels/copy.hpp"
#include "cairn/store/index.hpp"
#include "commands.hpp"
#include "interrupts.hpp"
#include "json.hpp"
#include "place.hpp"
#include "printing.hpp"

namespace program {

namespace {

/// The checkpoint and those that it is built on, as far as `to` does not have them; what comes first is built on the
/// next. errc::invalid where `to` has another one of the newest name that both have.
std::vector<std::string> missing_in(const cairn::any_store& to, const stored_checkpoint& what) {
  const auto names = to.list();
  std::vector<std::string> missing;
  bool has_newer = false;
  for (std::string name = what.name; !name.empty();) {
    const auto there = what.run.open(name);
    const auto text = cairn::detail::read_index_text(*there);
    const auto index = cairn::detail::parse_index(text, there->location(), cairn::detail::index_part::metadata);
    if (std::ranges::find(names, name) == names.end())
      missing.push_back(name);
    else if (!has_newer && !cairn::detail::has_checkpoint(to, name, text, index))
      cairn::fail(cairn::errc::invalid, {to.location(), " has another ", name, ": choose another place"});
    else
      has_newer = true;
    name = index.parent ? index.parent->name : std::string();
  }
  return missing;
}

}  // namespace

int copy(const std::string& checkpoint, const std::string& run, bool json) {
  const auto what = stored_at(checkpoint);
  if (!what) cairn::fail(cairn::errc::invalid, {"copy takes a checkpoint or a run; ", checkpoint, " is a file"});
  static_cast<void>(cairn::open(what->run, what->name));  // with all that it is built on
  auto to = run_at(run);
  const interrupts signals;
  const auto lock = to.lock();  // errc::busy while a trainer saves there
  auto missing = missing_in(to, *what);
  const auto count = missing.size();
  std::atomic<std::uint64_t> bytes{0};
  const progress shown(2 * bytes_at(checkpoint), json);
  for (; !missing.empty(); missing.pop_back())
    cairn::detail::copy_checkpoint(*what->run.open(missing.back()), to, missing.back(), [&](std::uint64_t more) {
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
