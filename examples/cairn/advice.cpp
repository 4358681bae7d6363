// SPDX-License-Identifier: MIT
#include "advice.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>

#include "cairn/version.hpp"

namespace program {

std::string advice_for(const cairn::error& cause) {
  const std::string_view message = cause.sentence();
  const auto says = [&](int number) { return message.find(std::generic_category().message(number)) != message.npos; };
  switch (cause.code()) {
    case cairn::errc::not_found:
      return "; give the directory of a run, of one of its checkpoints (`cairn ls RUN` lists them), or a file";
    case cairn::errc::corrupt:
    case cairn::errc::unreadable:
      return "; it is damaged or not of Cairn: `cairn verify --all RUN` shows which checkpoints of a run are intact";
    case cairn::errc::unsupported:
      return std::string("; this is Cairn ") + CAIRN_VERSION + ": a newer version, or one with its codec, may read it";
    case cairn::errc::no_memory:
      return "; end other programs, or use a machine with more memory";
    case cairn::errc::busy:
      return "; try again when that process has ended";
    case cairn::errc::io:
      if (says(EACCES) || says(EPERM)) return "; run cairn as the owner, or change the permissions (chmod)";
      if (says(ENOSPC) || says(EDQUOT)) return "; free space, or choose another place";
      if (says(EROFS)) return "; choose a place that can be written";
      if (says(EFBIG)) return "; raise the limit (ulimit -f), or choose another place";
      if (says(EAGAIN)) return "; end other programs, or raise the limits (ulimit -u, ulimit -v)";
      return {};
    default:
      return {};
  }
}

}  // namespace program
