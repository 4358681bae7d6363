// SPDX-License-Identifier: MIT
// A list of the paths of leaves and entries in one buffer, which finds a path that two leaves have.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/state/position_index.hpp"

namespace cairn::inline v0_1::detail {

/// Precondition: fewer than 2^32 paths.
class path_list {
 public:
  /// The path of an entry.
  void add(std::string_view path) {
    text_ += path;
    ends_.push_back(text_.size());
  }
  /// The path of a leaf.
  void add_leaf(std::string_view path) {
    leaves_.push_back(static_cast<std::uint32_t>(ends_.size()));
    add(path);
  }

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return text_.size(); }
  /// Memory for that many paths, and bytes of all of them.
  void reserve(std::size_t paths, std::size_t bytes) {
    text_.reserve(bytes);
    ends_.reserve(paths);
    leaves_.reserve(paths);
  }
  /// Valid until the next path is added.
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  /// A path that two leaves have, if there is one. O(n).
  [[nodiscard]] std::optional<std::string_view> find_duplicate_leaf() const {
    position_index seen(leaves_.size());
    std::array<std::size_t, 16> hashes{};  // of the next leaves, whose slots are loaded together
    for (std::size_t first = 0; first < leaves_.size(); first += hashes.size()) {
      const std::size_t count = (std::min)(hashes.size(), leaves_.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        hashes[i] = std::hash<std::string_view>{}((*this)[leaves_[first + i]]);
        seen.prefetch(hashes[i]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t leaf = leaves_[first + i];
        const std::string_view path = (*this)[leaf];
        if (seen.find_or_add(hashes[i], leaf, [&](std::uint32_t other) { return (*this)[other] == path; }) != leaf)
          return path;
      }
    }
    return std::nullopt;
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;      // of each path in `text_`
  std::vector<std::uint32_t> leaves_;  // the positions of their paths
};

}  // namespace cairn::inline v0_1::detail
