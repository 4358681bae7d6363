// SPDX-License-Identifier: MIT
// Reads one stored leaf into memory of any dtype and layout.
#pragma once

#include <cstddef>

#include "cairn/core/catalog.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/fetched_leaves.hpp"

namespace cairn::inline v0_1::detail {

/// Fetches leaf `index` by `by` into `to`, which has as many elements; or fewer in some of as many dimensions: these get the
/// first ones. Converts and scatters as needed. errc::mismatch: a value does not fit the dtype of `to`.
void fetch_leaf(fetched_leaves& by, const catalog& from, std::size_t index, const memory_view& to);

}  // namespace cairn::inline v0_1::detail
