// SPDX-License-Identifier: MIT
// The command verify: compares all bytes of checkpoints with their checksums.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "advice.hpp"
#include "cairn/inspect.hpp"
#include "cairn/levels/copy.hpp"
#include "cairn/levels/host_disk.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/posix.hpp"
#include "commands.hpp"
#include "json.hpp"
#include "place.hpp"
#include "printing.hpp"

namespace program {

namespace {

constexpr int most_tries = 20;

struct verified {
  std::string path;
  bool has_checksums = true;
  std::string problem{}, advice{};  ///< none: intact
  int status = 0;
};

/// Whether a single file has checksums: those of other programs have none.
bool has_checksums(const std::string& file) {
  const auto from = cairn::stores::detail::open_file(file);
  const auto header = cairn::detail::read_safetensors_header(*from, file);
  return !cairn::detail::read_shard_metadata(header, file).blocks.empty();
}

bool is_damage(const cairn::error& cause) {
  return cause.code() == cairn::errc::corrupt || cause.code() == cairn::errc::unreadable;
}

void note_problem(verified& made, const cairn::error& cause) {
  made.problem = without_prefix(cause.what());
  made.advice =
      is_damage(cause) ? "; do not continue from it: restore an earlier checkpoint, or a copy" : advice_for(cause);
  made.status = is_damage(cause) ? 1 : 2;
}

/// Throws errors that are not about the checkpoint itself, if `is_only`.
verified verify_one(const std::string& path, bool is_only) {
  verified made{path};
  try {
    for (int tries = 0; tries < most_tries; ++tries) {
      const auto opened = open_at(path);
      made.path = opened.path();
      if (cairn::detail::is_file(made.path)) made.has_checksums = has_checksums(made.path);
      const auto named = cairn::detail::parse_checkpoint_name(cairn::detail::split_path(made.path).name);
      if (named && *named != opened.step())
        cairn::fail(cairn::errc::corrupt, {made.path, " holds step ", opened.step(),
                                           ", which is not that of its name: it was renamed or copied"});
      try {
        opened.verify();
        break;
      } catch (const cairn::error& cause) {
        if (cause.code() != cairn::errc::not_found || tries + 1 == most_tries) throw;  // it was merged meanwhile
      }
    }
  } catch (const cairn::error& cause) {
    if (is_only && !is_damage(cause)) throw;
    note_problem(made, cause);
  }
  return made;
}

/// The bytes of all checkpoints, each with those of what it is built on.
std::uint64_t bytes_of_chains(const std::vector<cairn::checkpoint_summary>& listed) {
  std::map<std::string, std::uint64_t> bytes_of;
  std::uint64_t all = 0;
  for (const auto& each : listed) {  // a parent comes before what is built on it
    const auto parent = bytes_of.find(each.parent);
    all += bytes_of[each.name] = each.bytes + (parent == bytes_of.end() ? 0 : parent->second);
  }
  return all;
}

/// All checkpoints of a run. A trainer may remove them meanwhile: those that have gone are left out.
std::vector<verified> verify_all(const std::string& run, bool json) {
  std::vector<std::string> paths;
  const auto listed = checkpoints_of(run_at(run));
  for (const auto& each : listed) paths.push_back(run + "/" + each.name);
  const progress shown(bytes_of_chains(listed), json);
  std::vector<verified> all;
  for (const auto& each : paths) {
    auto made = verify_one(each, false);
    const auto remaining =
        made.problem.empty() ? std::vector<cairn::checkpoint_summary>() : cairn::list_checkpoints(run_at(run));
    const bool has_gone =
        !made.problem.empty() &&
        std::none_of(remaining.begin(), remaining.end(), [&](const auto& one) { return run + "/" + one.name == each; });
    if (!has_gone) all.push_back(std::move(made));
  }
  return all;
}

/// Takes a copy of a shard, and stores nothing.
class unstored final : public cairn::stores::transaction, cairn::stores::sink {
  cairn::stores::sink& create(std::string_view /*file*/, std::uint64_t /*bytes*/) override { return *this; }
  void write(std::uint64_t /*offset*/, std::span<const cairn::stores::buffer> /*buffers*/) override {}
  void publish() override {}
};

/// What a host of a group has on its own disk: the shards of each publication, without those on other hosts.
std::vector<verified> verify_host(const cairn::detail::host_disk& disk) {
  std::vector<verified> all;
  for (const auto& slot : disk.find_slots()) {
    const auto place = disk.slot(slot.name);
    for (const auto& directory : place.list()) {
      if (!cairn::detail::checkpoint_of(directory)) continue;
      verified made{cairn::sentence({disk.root(), "/", slot.name, "/", directory})};
      try {
        const auto there = place.open(directory);
        const auto index = cairn::detail::read_index(*there, cairn::detail::index_part::metadata);
        const auto files = there->files();
        unstored nothing;
        for (const auto& shard : index.shards)
          if (std::binary_search(files.begin(), files.end(), shard.file))
            cairn::detail::copy_shard(*there, shard, nothing, [](std::uint64_t) {});
      } catch (const cairn::error& cause) {
        if (cause.code() == cairn::errc::not_found) continue;  // it was removed meanwhile
        note_problem(made, cause);
      }
      all.push_back(std::move(made));
    }
  }
  return all;
}

std::string outcome_of(const verified& one) {
  if (!one.problem.empty()) return one.problem + one.advice;
  return one.has_checksums ? "all checksums match" : "no checksums: only the header was read";
}

}  // namespace

int verify(const std::string& path, bool all, bool json) {
  std::vector<verified> found;
  std::error_code unseen;  // verify_all says what is wrong
  if (all && !is_address(path) && std::filesystem::is_directory(path, unseen))
    found = verify_host(cairn::detail::host_disk(path, {}));
  if (!all) {
    const progress shown(bytes_at(path), json);
    found = {verify_one(path, true)};
  }
  while (found.empty()) found = verify_all(path, json);  // all may go while they are verified, and others come
  auto made = json_value::array();
  int status = 0;
  for (const auto& each : found) {
    status = std::max(status, each.status);
    json_value one{{"path", each.path}, {"is_intact", each.problem.empty()}, {"has_checksums", each.has_checksums}};
    if (!each.problem.empty()) one["problem"] = each.problem;
    made.push_back(std::move(one));
    if (json) continue;
    const auto line = printable(each.path) + ": " + outcome_of(each);
    std::cout << styled(line, each.problem.empty() ? style::good : style::bad) << '\n';
  }
  if (json) print(made);
  return status;
}

}  // namespace program
