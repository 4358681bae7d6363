// SPDX-License-Identifier: MIT
// The commands of the program. Each prints its result and returns the exit status: 0; 1: found a difference or damage.
// Errors are thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace program {

/// What to keep of a run; with no rule all stays.
struct retention {
  std::optional<std::size_t> keep_last;
  std::optional<std::uint64_t> keep_every;
  std::optional<std::size_t> keep_best;
  std::string metric = "loss";
  bool higher_is_better = false;
};

/// Which arrays `export` and `import` take, and their names.
struct array_names {
  std::vector<std::string> patterns;  ///< none: all
  std::string prefix;                 ///< removed from the names
};

int list(const std::string& run, const retention& rules, bool json);
int show(const std::string& checkpoint, bool json);
int verify(const std::string& path, bool all, bool json);
int diff(const std::string& a, const std::string& b, bool json);
int export_arrays(const std::string& checkpoint, const std::string& path, const array_names& names, bool json);
int merge(const std::string& checkpoint, bool json);
/// `run`: where to.
int copy(const std::string& checkpoint, const std::string& run, bool json);
int prune(const std::string& run, const retention& rules, bool really, bool json);
int plan(const std::string& checkpoint, std::size_t ranks, bool json);
/// `events`: a file of observers::json_lines, or empty. `output`: "-" is the standard output.
int report(const std::string& run, const std::string& events, const std::string& output, bool json);
int import_arrays(const std::string& file, const std::string& checkpoint, const array_names& names, std::uint64_t step,
                  bool json);

}  // namespace program
