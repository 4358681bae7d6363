// SPDX-License-Identifier: MIT
// The ways in which the ranks of a job can save a state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cairn/state/base.hpp"
#include "mpi_save/share.hpp"
#include "mpi_save/world.hpp"

namespace bench {

/// One state, as the ranks of a job have it.
struct job {
  const world& ranks;
  const share& part;        ///< what this rank writes where each writes its part
  const share* all;         ///< what it has of all arrays; null where each rank has boxes
  cairn::any_state state;   ///< the same for Cairn
  std::string directory{};  ///< for the files
};

struct way {
  std::string name;
  /// All ranks call it, with the path of a new file or directory. Returns when the part of this rank is written, and on
  /// the disk if `durable`.
  std::function<void(const std::string& path, bool durable)> save;
  std::function<void()> prepare{};  ///< not timed, before `save`
  std::function<void()> remove{};   ///< of a way that has a place of its own: all ranks remove what was saved together
};

[[nodiscard]] way cairn_way(const job& of, bool durable);  ///< for saves that are durable, or for those that are not
[[nodiscard]] way cairn_background_way(const job& of);     ///< a save in the background from its copy on, not durable
[[nodiscard]] way blobs_way(const job& of);                ///< each rank writes its part into a file of its own
[[nodiscard]] way rank0_way(const job& of);                ///< rank 0 writes its copy
[[nodiscard]] way everyone_way(const job& of);             ///< each rank writes its copy
[[nodiscard]] way gather_way(const job& of);               ///< MPI_Gatherv of the parts to rank 0, which writes them
[[nodiscard]] way mpi_io_way(const job& of);               ///< MPI_File_write_at_all into one file
#ifdef CAIRN_BENCH_HDF5
[[nodiscard]] way hdf5_way(const job& of,
                           const dimensions& shapes);  ///< a dataset per array, into which each rank writes its rows
#endif

/// Writes pieces one after another into a new file, as a plain program does. Returns when they are in the page cache,
/// or on the disk if `durable`.
void write_file(const std::string& path, const share& what, bool durable);

/// Whether the file has the bytes of the pieces, each at its place.
[[nodiscard]] bool has_bytes(const std::string& path, const share& what);

}  // namespace bench
