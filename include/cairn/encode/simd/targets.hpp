// SPDX-License-Identifier: MIT
// Tables of kernels, one per target that kernels are compiled for, and which of them this machine can run.
#pragma once

#include <cstdint>
#include <span>

// How kernels are compiled: x.hpp declares tables of functions and nothing else: of each family of kernels F, F() is
// the table for this machine, and all_F() has those of every target that it can run, which all give the same bits. The
// functions are in x-inl.hpp, written with Highway, and are compiled once per target by lossless_kernels.ipp or
// lc_kernels.ipp. Only each_target.hpp and highway-inl.hpp include Highway.

namespace cairn::inline v0_1::detail::simd {

/// The tables of one family of kernels, the best first. `target` says what a table is compiled for: a bit of Highway's.
template <class Kernels>
using kernel_tables = std::span<const Kernels* const>;

/// The tables from the first one on whose target is in the set `supported`. The last table is for the target that all
/// code of the program is compiled for, and is never left out.
template <class Kernels>
[[nodiscard]] constexpr kernel_tables<Kernels> runnable(kernel_tables<Kernels> tables,
                                                        std::int64_t supported) noexcept {
  while (tables.size() > 1 && (tables.front()->target & supported) == 0) tables = tables.subspan(1);
  return tables;
}

}  // namespace cairn::inline v0_1::detail::simd
