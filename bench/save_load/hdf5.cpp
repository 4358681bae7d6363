// SPDX-License-Identifier: MIT
// HDF5 through its C API: one contiguous dataset per tensor, groups by path, the newest file layout.
#include <stdexcept>
#include <string>
#include <vector>

#include "common/hdf5.hpp"
#include "save_load/method.hpp"

namespace bench {
namespace {

hdf5_handle newest_layout() {
  return {[] {
            const hid_t id = H5Pcreate(H5P_FILE_ACCESS);
            check_hdf5(H5Pset_libver_bounds(id, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
            return id;
          }(),
          H5Pclose};
}

void save(const std::string& path, const training_state& state, bool durable) {
  {
    const hdf5_handle access = newest_layout();
    const hdf5_handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access), H5Fclose);
    const hdf5_handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    check_hdf5(H5Pset_create_intermediate_group(links, 1));
    for_each_tensor(state, [&](const std::string& name, const tensor& t) {
      const std::vector<hsize_t> shape(t.shape.begin(), t.shape.end());
      const hdf5_handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
      const hdf5_handle set(H5Dcreate2(file, name.c_str(), H5T_NATIVE_FLOAT, space, links, H5P_DEFAULT, H5P_DEFAULT),
                            H5Dclose);
      check_hdf5(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.values.data()));
    });
    const hdf5_handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const hdf5_handle step(H5Dcreate2(file, "step", H5T_NATIVE_UINT64, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                           H5Dclose);
    check_hdf5(H5Dwrite(step, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &state.step));
  }
  if (durable) flush_file(path);
}

void load(const std::string& path, training_state& state) {
  const hdf5_handle access = newest_layout();
  const hdf5_handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  for (auto* model : {&state.weights, &state.first_moment, &state.second_moment}) {
    const auto* root = model == &state.weights        ? "weights"
                       : model == &state.first_moment ? "first_moment"
                                                      : "second_moment";
    const hdf5_handle group(H5Gopen2(file, (std::string(root) + "/blocks").c_str(), H5P_DEFAULT), H5Gclose);
    H5G_info_t info;
    check_hdf5(H5Gget_info(group, &info));
    model->blocks.resize(info.nlinks);
  }
  for_each_tensor(state, [&](const std::string& name, tensor& t) {
    const hdf5_handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const hdf5_handle space(H5Dget_space(set), H5Sclose);
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    t.shape.assign(shape.begin(), shape.end());
    t.values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    check_hdf5(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.values.data()));
  });
  const hdf5_handle step(H5Dopen2(file, "step", H5P_DEFAULT), H5Dclose);
  check_hdf5(H5Dread(step, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &state.step));
}

}  // namespace

method hdf5_method() { return {.name = "hdf5", .save = save, .load = load}; }

}  // namespace bench
