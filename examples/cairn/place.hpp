// SPDX-License-Identifier: MIT
// Where runs and checkpoints are: at a path, or in a bucket, at an address s3://BUCKET/PREFIX.
#pragma once

#include <optional>
#include <string>

#include "cairn/inspect.hpp"
#include "cairn/store/base.hpp"

namespace program {

/// Is it the address of a bucket, and no path?
[[nodiscard]] bool is_address(const std::string& where);

/// The store of the run there, or of one that may be made. errc::invalid for an address, in a program without
/// cairn::s3.
[[nodiscard]] cairn::any_store run_at(const std::string& where);

/// The store and the name of the checkpoint at a path or an address; of a run, the newest one. Nothing for a file.
struct stored_checkpoint {
  cairn::any_store run;
  std::string name;
};
[[nodiscard]] std::optional<stored_checkpoint> stored_at(const std::string& where);

/// The same, opened; also a file.
[[nodiscard]] cairn::checkpoint open_at(const std::string& where);

}  // namespace program
