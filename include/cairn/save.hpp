// One-shot saving and loading of a state: one directory, one checkpoint.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cairn/load.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/writer.hpp"

namespace cairn {

/// How to save.
struct save_options {
  bool durable =
      true;  ///< after the save a crash of the machine cannot lose it; else it is in the page cache
  unsigned threads = 0;  ///< 0: what the store takes to be best
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  std::size_t shards = 1;  ///< files of nearly equal size to spread the state over
};

/// What a save did.
struct save_report {
  std::string path;          ///< of the checkpoint
  std::uint64_t leaves = 0;  ///< arrays written
  std::uint64_t bytes = 0;   ///< of all files
  double seconds = 0;
};

namespace detail {

/// A path's directory and the name in it: "a/b" -> {"a", "b"}, "b/" -> {".", "b"}.
struct place {
  std::string directory;
  std::string name;
};

[[nodiscard]] inline place split_path(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

[[nodiscard]] inline bool is_file(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// Writes a description as checkpoint `name`.
inline save_report write_description(
    any_store& store, const std::string& name, const description& what, const save_options& options,
    const std::function<void(std::uint64_t, std::uint64_t)>& on_progress = {}) {
  const auto begin = std::chrono::steady_clock::now();
  save_report report;
  report.path = store.location() + "/" + name;
  report.leaves = what.leaves.size();
  report.bytes = write_checkpoint(store, name,
                                  {.leaves = what.leaves,
                                   .shards = divide_evenly(what.leaves, options.shards),
                                   .facts = {what.facts},
                                   .step = options.step,
                                   .metrics = options.metrics,
                                   .threads = options.threads,
                                   .on_progress = on_progress});
  report.seconds = seconds_since(begin);
  return report;
}

}  // namespace detail

/// Saves `state` as the checkpoint `path`, a directory, which appears at once and whole, in place of an older
/// one. Errors: `io`, `busy` when another process is saving to the same path, `invalid` for a state that
/// cannot be saved; nothing is left behind, and an older checkpoint at the path stays.
template <class State>
save_report save(const std::string& path, const State& state, const save_options& options = {}) {
  const auto [directory, name] = detail::split_path(path);
  any_store store = stores::directory(directory, {.durable = options.durable});
  return detail::write_description(store, name, describe(state), options);
}

/// Loads into `state` from `path`: a checkpoint, a directory of checkpoints (the newest one that can be
/// restored), or a single safetensors file of any origin. Errors: `not_found`, `mismatch`, `corrupt`,
/// `unsupported`, `io`; the state is then as it was.
template <class State>
load_report load(const std::string& path, State& state, const load_options& options = {}) {
  const auto [directory, name] = detail::split_path(path);
  if (detail::is_file(path))
    return detail::load_from(checkpoint_reader(stores::open_file(path), path), state, options);
  if (detail::is_file(path + "/" + std::string(index_file)))
    return detail::load_from(checkpoint_reader(stores::directory(directory), name), state, options);
  if (auto report = detail::restore_newest(stores::directory(path), state, options))
    return *std::move(report);
  fail(errc::not_found, {"there is no checkpoint in ", path});
}

}  // namespace cairn
