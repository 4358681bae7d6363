// SPDX-License-Identifier: MIT
// Definitions of save.hpp and arrays.hpp.
#pragma once

#include <algorithm>

#include "cairn/arrays.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/chain/attempt.hpp"
#include "cairn/once/inspect.ipp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/system/posix.hpp"

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

/// Users look for what they have saved under the path that they have given.
class user_directory final : public stores::directory {
 public:
  user_directory(const std::string& path, bool durable) : directory(path, {.durable = durable}) { settles_ = true; }
};

template <class Describe>
save_report save_described(const std::string& path, const save_options& options, const Describe& describe) {
  return with_errors(path + " cannot be saved", [&] {
    const auto at = split_path(path);
    any_store store = user_directory(at.directory, options.durable);
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

namespace cairn::inline v0_1 {
namespace detail {

/// The arrays as leaves, with the structure of another checkpoint.
inline description describe_arrays(const std::string& path, std::span<const named_array> arrays, structure of_state) {
  description what{{}, std::move(of_state)};
  for (const auto& each : arrays) {
    if (each.name.empty() || each.name == "__metadata__")
      fail(errc::invalid, {path, ": an array cannot have the name \"", each.name, "\""});
    if (!each.strides.empty() && each.strides.size() != each.shape.size())
      fail(errc::invalid, {path, ": \"", each.name, "\" has ", each.shape.size(), " dimensions, and ",
                           each.strides.size(), " strides"});
    auto& made = what.leaves.emplace_back();
    made.path = each.name;
    made.type = each.type;
    made.shape = each.shape;
    made.strides = each.strides;
    made.memory = static_cast<std::byte*>(const_cast<void*>(each.memory));  // a save does not write to it
  }
  return what;
}

inline void require_same_arrays(const std::string& path, std::span<const named_array> arrays, const checkpoint& like) {
  std::vector<std::string_view> names;
  for (const auto& each : arrays) {
    names.push_back(each.name);
    if (!like.contains(each.name)) fail(errc::mismatch, {path, ": \"", each.name, "\" is not in ", like.path()});
    const auto other = like.tensor(each.name);
    if (each.type != other.type || each.shape != other.shape)
      fail(errc::mismatch, {path, ": \"", each.name, "\" is ", name(each.type), ' ', to_string(each.shape), ", and in ",
                            like.path(), " ", name(other.type), ' ', to_string(other.shape)});
  }
  std::sort(names.begin(), names.end());
  for (const auto& each : like.tensors())
    if (!std::binary_search(names.begin(), names.end(), each.name))
      fail(errc::mismatch, {path, ": \"", each.name, "\" is missing, which ", like.path(), " has"});
}

}  // namespace detail

save_report save_arrays(const std::string& path, std::span<const named_array> arrays, const save_options& options) {
  return detail::save_described(path, options, [&] { return detail::describe_arrays(path, arrays, {}); });
}

save_report save_arrays(const std::string& path, std::span<const named_array> arrays, const checkpoint& like,
                        const save_options& options) {
  return detail::save_described(path, options, [&] {
    detail::require_same_arrays(path, arrays, like);
    return detail::describe_arrays(path, arrays, detail::reader_of(like).contents().structure);
  });
}

}  // namespace cairn::inline v0_1
