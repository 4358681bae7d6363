// A list of paths in one buffer, which refuses a second path of a leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/state/position_index.hpp"

namespace cairn::detail {

/// Fewer than 2^32 paths.
class path_list {
 public:
  void add(std::string_view path) {
    text_ += path;
    ends_.push_back(text_.size());
  }

  /// Adds the path of a leaf. Returns false if another leaf has it.
  [[nodiscard]] bool add_leaf(std::string_view path) {
    const auto position = static_cast<std::uint32_t>(ends_.size());
    add(path);
    const auto hash = std::hash<std::string_view>{}(path);
    return leaves_.find_or_add(hash, position, [&](std::uint32_t i) { return (*this)[i] == path; }) == position;
  }

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  /// Valid until the next path is added.
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  // of each path in `text_`
  position_index leaves_;
};

}  // namespace cairn::detail
