// SPDX-License-Identifier: MIT
// What the ranks read when they restore.
#pragma once

#include "common/report.hpp"
#include "mpi_save/contest.hpp"

namespace bench {

/// mpi_load.over_everyone_reads: restores of 4 ranks, over loads of each rank by itself.
void measure_loads(const world& all, const setting& how, report& numbers);

/// mpi_load.bytes_read_over_needed: saved by N ranks, restored by M, all in threads of rank 0.
void count_reads(const world& all, const dimensions& shapes, report& numbers);

}  // namespace bench
