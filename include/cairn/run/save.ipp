// SPDX-License-Identifier: MIT
// Definitions of save.hpp.
#pragma once

#include <cstdint>
#include <utility>

#include "cairn/chain/save_pipeline.hpp"
#include "cairn/core/as_error.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/system/paths.hpp"

namespace cairn::inline v0_1::detail {

inline save_job job_of(std::string_view name, description what, const save_options& options) {
  save_job job{.name = std::string(name), .what = std::move(what)};
  job.info.step = options.step;
  job.info.metrics = options.metrics;
  job.info.metadata = options.metadata;
  job.codecs = options.codecs;
  job.threads = options.threads;
  job.hooks.check = options.check;
  if (options.check) job.hooks.progress = [&options](std::uint64_t, std::uint64_t) { options.check(); };
  return job;
}

/// Saves what `describe()` returns.
template <class Describe>
save_report save_described(const std::string& path, const save_options& options, const Describe& describe) {
  return with_errors(path + " cannot be saved", [&] {
    const auto at = split_path(path);
    any_store store = stores::directory(at.directory, {.durable = options.durable});
    return save_checkpoint(store, job_of(at.name, describe(), options), options.shards);
  });
}

save_report save(const std::string& path, any_state state, const save_options& options) {
  return save_described(path, options, [&] { return describe(state, {}, path); });
}

save_report save(any_store store, std::string_view name, any_state state, const save_options& options) {
  if (!options.durable) fail(errc::invalid, {"durable is false, which is an option of the store that is passed in"});
  const std::string checkpoint = sentence({store.location(), "/", name});
  return with_errors(checkpoint + " cannot be saved", [&] {
    return save_checkpoint(store, job_of(name, describe(state, {}, checkpoint), options), options.shards);
  });
}

}  // namespace cairn::inline v0_1::detail
