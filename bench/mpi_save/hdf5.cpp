// SPDX-License-Identifier: MIT
// Parallel HDF5: a contiguous dataset per array, made by all ranks; each rank writes its rows, all into one file.
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "common/hdf5.hpp"
#include "mpi_save/way.hpp"

namespace bench {
namespace {

void set_access(hid_t access, MPI_Comm ranks) {
  check_hdf5(H5Pset_fapl_mpio(access, ranks, MPI_INFO_NULL));
  check_hdf5(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
  check_hdf5(H5Pset_coll_metadata_write(access, true));
}

/// All arrays, in the order of their bytes: the same at all ranks.
using array_list = std::vector<std::pair<std::string, std::vector<hsize_t>>>;

/// Ranks write independently of each other: their rows are apart, and collective writes would only exchange them first.
void save(const world& ranks, const share& part, const array_list& arrays, const std::string& path) {
  const hdf5_handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  set_access(access, ranks.comm());
  const hdf5_handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access), H5Fclose);
  const hdf5_handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose), making(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  check_hdf5(H5Pset_create_intermediate_group(links, 1));
  check_hdf5(H5Pset_fill_time(making, H5D_FILL_TIME_NEVER));
  auto piece = part.pieces.begin();
  for (const auto& [name, shape] : arrays) {
    const hdf5_handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const hdf5_handle set(H5Dcreate2(file, name.c_str(), H5T_NATIVE_FLOAT, space, links, making, H5P_DEFAULT),
                          H5Dclose);
    if (piece == part.pieces.end() || piece->path != name) continue;
    std::vector<hsize_t> first(shape.size()), count = shape;
    first[0] = piece->first;
    count[0] = piece->count;
    check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr));
    const hdf5_handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    check_hdf5(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, piece->values));
    ++piece;
  }
}

void sync_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::fsync(file) != 0) throw std::runtime_error("cannot fsync " + path);
  ::close(file);
}

}  // namespace

way hdf5_way(const job& of, const dimensions& shapes) {
  array_list arrays;
  const auto state = make_shapes(shapes);
  for_each_tensor(state, [&](const std::string& name, const tensor& t) {
    arrays.emplace_back(name, std::vector<hsize_t>(t.shape.begin(), t.shape.end()));
  });
  const auto save_one = [&of, arrays](const std::string& path, bool durable) {
    save(of.ranks, of.part, arrays, path + "/0");
    if (durable && of.ranks.is_first()) sync_file(path + "/0");
    of.ranks.meet();
  };
  return {"parallel HDF5", save_one};
}

}  // namespace bench
