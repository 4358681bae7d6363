// SPDX-License-Identifier: MIT
// One way to save and load the state; every peer is such a method in a file of its own.
#pragma once

#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "save_load/state.hpp"

namespace bench {

struct method {
  std::string name;
  /// Writes `state` to a path that does not exist. With `durable`, it has reached the disk on return.
  void (*save)(const std::string& path, const training_state& state, bool durable);
  /// Reads into `state`, which is either built in the shapes of the file or empty.
  void (*load)(const std::string& path, training_state& state);
  /// Not timed: brings what `load` read into `state`, where the method keeps it in tensors of its own; else
  /// null.
  void (*collect)(training_state& state) = nullptr;
  /// Not timed: what a program has before it loads into nothing and the file does not tell, else null.
  void (*prepare)(const dimensions& d) = nullptr;
  /// Saves from a copy while the state may change; returns the seconds after the copy. Null where the method cannot.
  double (*save_behind)(const std::string& path, const training_state& state) = nullptr;
};

[[nodiscard]] method plain_method();
[[nodiscard]] method plain_two_method();
[[nodiscard]] method cairn_method();
[[nodiscard]] method cairn_verify_first_method();
[[nodiscard]] method cairn_lossless_method();
[[nodiscard]] method cereal_method();
[[nodiscard]] method boost_method();
[[nodiscard]] method hdf5_method();
[[nodiscard]] method libtorch_method();

/// Brings a written file to the disk: what a user adds to a library that does not.
inline void flush_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::fsync(file) != 0) throw std::runtime_error("cannot fsync " + path);
  ::close(file);
}

/// The buffer of file streams. Arrays larger than it go past it, straight to the file.
inline constexpr std::size_t stream_buffer_bytes = 64 * 1024;

}  // namespace bench
