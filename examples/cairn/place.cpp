// SPDX-License-Identifier: MIT
#include "place.hpp"

#include "cairn/core/error.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/system/posix.hpp"
#ifdef CAIRN_PROGRAM_S3
#include "cairn/s3.hpp"
#endif

namespace program {

bool is_address(const std::string& where) { return where.starts_with("s3://"); }

cairn::any_store run_at(const std::string& where) {
  if (!is_address(where)) return cairn::stores::directory(where);
#ifdef CAIRN_PROGRAM_S3
  return cairn::stores::s3(where);
#else
  cairn::fail(cairn::errc::invalid,
              {where, ": this program was built without buckets: build it again where libcurl and OpenSSL are"});
#endif
}

std::optional<stored_checkpoint> stored_at(const std::string& where) {
  if (!is_address(where)) {
    const auto path = cairn::open(where).path();  // of a run, that of its newest checkpoint
    if (cairn::detail::is_file(path)) return std::nullopt;
    const auto [directory, name] = cairn::detail::split_path(path);
    return stored_checkpoint{run_at(directory), name};
  }
  const auto address = where.substr(0, where.find_last_not_of('/') + 1);
  const auto slash = address.find_last_of('/');
  const auto last = address.substr(slash + 1);
  if (cairn::detail::parse_checkpoint_name(last)) return stored_checkpoint{run_at(address.substr(0, slash)), last};
  const auto run = run_at(where);
  const auto names = run.list();
  if (names.empty()) cairn::fail(cairn::errc::not_found, {"there is no checkpoint in ", run.location()});
  return stored_checkpoint{run, names.back()};
}

cairn::checkpoint open_at(const std::string& where) {
  if (!is_address(where)) return cairn::open(where);
  const auto found = stored_at(where).value();
  return cairn::open(found.run, found.name);
}

}  // namespace program
