// Definitions of save.hpp.
#pragma once

#include "cairn/place.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/piece.hpp"
#include "cairn/store/writer.hpp"

namespace cairn::detail {

CAIRN_INLINE save_report write_description(any_store& store, const std::string& name, const description& what,
                                           const save_options& options,
                                           const std::function<void(std::uint64_t, std::uint64_t)>& on_progress) {
  const stopwatch watch;
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
  report.seconds = watch.seconds();
  return report;
}

CAIRN_INLINE save_report save(const std::string& path, any_state state, const save_options& options) {
  const auto [directory, name] = split_path(path);
  any_store store = stores::directory(directory, {.durable = options.durable});
  return write_description(store, name, describe(state), options);
}

}  // namespace cairn::detail
