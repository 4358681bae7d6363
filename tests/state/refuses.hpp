// SPDX-License-Identifier: MIT
// Checks of loads that are refused.
#pragma once

#include "catch.hpp"
#include "state/kept.hpp"

namespace tests {

/// Checks that a load of `kept` into `state` is refused with that code, and that the message has `said`.
template <class State>
void refuses(const kept& kept, State& state, cairn::errc code, const std::string& said,
             const cairn::detail::match_options& options = any_size) {
  INFO(said);
  try {
    kept.load(state, options);
    FAIL_CHECK("loaded");
  } catch (const cairn::error& error) {
    CHECK(error.code() == code);
    CHECK_THAT(error.what(), ContainsSubstring(said));
  }
}

/// The same of a load of `saved`.
template <class State>
void refuses(const cairn::detail::description& saved, State& state, cairn::errc code, const std::string& said,
             const cairn::detail::match_options& options = any_size) {
  tests::refuses(kept(saved), state, code, said, options);
}

}  // namespace tests
