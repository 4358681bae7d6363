# SPDX-License-Identifier: MIT
# cairn::mpi: what cairn/group/mpi.hpp needs. Each project that uses it looks for MPI itself, so it is never exported.
find_package(MPI 3 ${cairn_mpi_required} QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND AND NOT TARGET cairn::mpi)
  add_library(cairn::mpi INTERFACE IMPORTED GLOBAL)
  target_link_libraries(cairn::mpi INTERFACE cairn::cairn MPI::MPI_CXX)
endif()
