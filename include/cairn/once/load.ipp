// SPDX-License-Identifier: MIT
// Definitions of load.hpp.
#pragma once

#include "cairn/chain/load.hpp"
#include "cairn/load.hpp"
#include "cairn/once/inspect.ipp"
#include "cairn/store/directory.hpp"

namespace cairn::inline v0_1::detail {

load_report load(const std::string& path, any_mutable_state state, const load_options& options) {
  if (!is_checkpoint(path)) return load(stores::directory(path), state, options);
  refuse_step(options);
  return with_errors(path + " cannot be loaded", [&] {
    if (is_single(path)) return load_from(*open_checkpoint(path, options.codecs), state, options);
    const auto [directory, name] = place_of_checkpoint(path);
    auto report = load_named(stores::directory(directory), name, state, options);
    report.name.clear();
    return report;
  });
}

load_report load(const any_store& store, any_mutable_state state, const load_options& options) {
  auto report = with_errors(store.location() + " cannot be loaded", [&] { return restore(store, state, options); });
  if (report) return *std::move(report);
  fail(errc::not_found, {"there is no checkpoint in ", store.location(), missing_advice(store.location())});
}

load_report load(const any_store& store, std::string_view name, any_mutable_state state, const load_options& options) {
  refuse_step(options);
  return with_errors(sentence({store.location(), "/", name, " cannot be loaded"}),
                     [&] { return load_named(store, name, state, options); });
}

load_report load(const checkpoint& from, any_mutable_state state, const load_options& options) {
  refuse_step(options);
  if (!options.codecs.empty())
    fail(errc::invalid, {"codecs are given to load ", from.path(), ", which is open: cairn::open takes them"});
  return load_from(reader_of(from), state, options);
}

}  // namespace cairn::inline v0_1::detail
