// SPDX-License-Identifier: MIT
// A description kept in memory as a checkpoint would keep it: what the tests of state/ load from.
#pragma once

#include "cairn/core/strided.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/state/stored_state.hpp"
#include "cairn/state/loader.hpp"
#include "standard.hpp"

namespace tests {

/// Loads with it are of states whose arrays have any size; the default of users is `{}`.
inline const cairn::detail::match_options any_size{
    .rename = {}, .filter = {}, .reshape = [](std::string_view) { return cairn::reshaping::resize; }};

struct kept {
  cairn::detail::catalog contents;
  std::map<std::string, std::vector<std::byte>> bytes;

  explicit kept(const cairn::detail::description& what) {
    contents.origin = "kept";
    contents.has_structure = true;
    contents.structure = what.structure;
    for (const auto& leaf : what.leaves) {
      contents.leaves.push_back({leaf.path, leaf.type, leaf.shape});
      auto& copy = bytes[leaf.path];
      copy.resize(leaf.bytes());
      cairn::detail::gather(leaf, 0, copy);
    }
    sort();
    contents.fetch = [this](std::size_t index, std::span<std::byte> out) {
      const auto& from = bytes.at(contents.leaves[index].path);
      if (!out.empty()) std::memcpy(out.data(), from.data(), out.size());
    };
  }
  template <class State>
  explicit kept(const State& state) : kept(cairn::detail::describe(state)) {}
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;

  void sort() {
    std::sort(contents.leaves.begin(), contents.leaves.end(), [](auto& a, auto& b) { return a.path < b.path; });
  }

  template <class State>
  cairn::match_report load(State& state, const cairn::detail::match_options& options = any_size,
                           cairn::detail::rank_info here = {}) const {
    return load(cairn::refer(state), options, here);
  }
  cairn::match_report load(cairn::any_mutable_state state, const cairn::detail::match_options& options = any_size,
                           cairn::detail::rank_info here = {}) const {
    cairn::detail::load_plan load(state, contents, options, here);
    load.apply();
    for (const auto& each : load.growths()) each.resize(each.container, each.size);
    for (const auto& each : load.targets())
      cairn::detail::fetch_leaf(load.fetched(), contents, each.index, each.destination);
    load.finish();
    const auto& report = load.report();
    for (const auto* list :
         {&report.loaded, &report.missing, &report.unexpected, &report.converted, &report.resized, &report.reshaped})
      if (std::set<std::string_view>(list->begin(), list->end()).size() != list->size())
        throw std::logic_error("a path occurs twice in a list of the report");
    return report;
  }

  /// Paths of all leaves, sorted, joined by spaces.
  [[nodiscard]] std::string paths() const {
    std::string all;
    for (const auto& leaf : contents.leaves) all += (all.empty() ? "" : " ") + leaf.path;
    return all;
  }

  friend bool operator==(const kept& a, const kept& b) {
    return a.bytes == b.bytes && a.contents.structure == b.contents.structure;
  }
};

/// Keeps `state`, loads it into `fresh`, and tells whether `fresh` now describes itself as `state` does.
template <class State>
bool comes_back(const State& state, State& fresh) {
  const kept original(cairn::detail::describe(state));
  original.load(fresh);
  return kept(cairn::detail::describe(fresh)) == original;
}

template <class State>
bool comes_back(const State& state) {
  State fresh{};
  return comes_back(state, fresh);
}

}  // namespace tests
