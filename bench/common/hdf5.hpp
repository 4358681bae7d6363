// SPDX-License-Identifier: MIT
// HDF5's C API: handles that are closed, and calls that are checked.
#pragma once

#include <stdexcept>

#include <hdf5.h>

namespace bench {

/// An HDF5 handle, closed at the end of its scope.
class hdf5_handle {
 public:
  hdf5_handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw std::runtime_error("an HDF5 call failed");
  }
  hdf5_handle(const hdf5_handle&) = delete;
  hdf5_handle& operator=(const hdf5_handle&) = delete;
  ~hdf5_handle() { close_(id_); }
  operator hid_t() const noexcept { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

inline void check_hdf5(herr_t status) {
  if (status < 0) throw std::runtime_error("an HDF5 call failed");
}

}  // namespace bench
