// HDF5 through its C API: one contiguous dataset per tensor, groups by path, the newest file layout.
#include <stdexcept>
#include <string>
#include <vector>

#include <hdf5.h>

#include "save_load/method.hpp"

namespace bench {
namespace {

/// An HDF5 handle, closed at the end of its scope.
class handle {
 public:
  handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error("an HDF5 call failed");
  }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { close_(id_); }
  operator hid_t() const noexcept { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void check(herr_t status) {
  if (status < 0) throw std::runtime_error("an HDF5 call failed");
}

handle newest_layout() {
  return {[] {
            const hid_t id = H5Pcreate(H5P_FILE_ACCESS);
            check(H5Pset_libver_bounds(id, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
            return id;
          }(),
          H5Pclose};
}

void save(const std::string& path, const training_state& state, bool durable) {
  {
    const handle access = newest_layout();
    const handle file(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access), H5Fclose);
    const handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    check(H5Pset_create_intermediate_group(links, 1));
    for_each_tensor(state, [&](const std::string& name, const tensor& t) {
      const std::vector<hsize_t> shape(t.shape.begin(), t.shape.end());
      const handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
      const handle set(H5Dcreate2(file, name.c_str(), H5T_NATIVE_FLOAT, space, links, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose);
      check(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.values.data()));
    });
    const handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const handle step(H5Dcreate2(file, "step", H5T_NATIVE_UINT64, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
    check(H5Dwrite(step, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &state.step));
  }
  if (durable) flush_file(path);
}

void load(const std::string& path, training_state& state) {
  const handle access = newest_layout();
  const handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
  for (auto* model : {&state.weights, &state.first_moment, &state.second_moment}) {
    const auto* root = model == &state.weights        ? "weights"
                       : model == &state.first_moment ? "first_moment"
                                                      : "second_moment";
    const handle group(H5Gopen2(file, (std::string(root) + "/blocks").c_str(), H5P_DEFAULT), H5Gclose);
    H5G_info_t info;
    check(H5Gget_info(group, &info));
    model->blocks.resize(info.nlinks);
  }
  for_each_tensor(state, [&](const std::string& name, tensor& t) {
    const handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    const handle space(H5Dget_space(set), H5Sclose);
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    t.shape.assign(shape.begin(), shape.end());
    t.values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    check(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, t.values.data()));
  });
  const handle step(H5Dopen2(file, "step", H5P_DEFAULT), H5Dclose);
  check(H5Dread(step, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &state.step));
}

}  // namespace

method hdf5_method() { return {.name = "hdf5", .save = save, .load = load}; }

}  // namespace bench
