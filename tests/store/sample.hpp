// SPDX-License-Identifier: MIT
// What the tests of the store share: scratch directories, random leaves, and what an error said.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/store/naming.hpp"

namespace sample {

/// A directory in memory, where there is one: for tests that write much and wait for no disk.
inline std::filesystem::path in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

/// The names in a directory, sorted.
inline std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(directory)) names.push_back(each.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// A fresh directory that goes with its owner.
class scratch {
 public:
  explicit scratch(const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    std::string pattern = in / "cairn-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path(std::string_view below = "") const {
    return below.empty() ? path_ : path_ + "/" + std::string(below);
  }

 private:
  std::string path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void spill(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The steps of the checkpoints in a store, as it lists them.
inline std::vector<std::uint64_t> steps_in(const cairn::any_store& store) {
  std::vector<std::uint64_t> steps;
  for (const auto& name : store.list()) steps.push_back(cairn::detail::parse_checkpoint_name(name).value());
  return steps;
}

struct failure {
  cairn::errc code{};
  std::string sentence;
  bool state_changed = false;

  [[nodiscard]] bool says(std::string_view part) const { return sentence.find(part) != std::string::npos; }
};

/// The cairn::error that `action` throws; an empty sentence when it throws none.
template <class Action>
failure failure_of(const Action& action) {
  try {
    action();
  } catch (const cairn::error& error) {
    return {error.code(), error.what(), error.state_changed()};
  }
  return {};
}

/// Leaves over memory of their own.
struct leaves {
  std::vector<cairn::detail::leaf> list;

  cairn::detail::leaf& add(std::string path, cairn::dtype type, cairn::extents shape, std::mt19937_64& random) {
    cairn::detail::leaf made;
    made.path = std::move(path);
    made.type = type;
    made.shape = std::move(shape);
    const auto bytes = made.bytes();
    const std::shared_ptr<std::byte[]> memory(new std::byte[bytes + 1]);
    for (std::uint64_t i = 0; i < bytes; ++i) memory.get()[i] = static_cast<std::byte>(random());
    made.memory = memory.get();
    made.owner = memory;
    return list.emplace_back(std::move(made));
  }

  /// Every other element of memory that is twice as long.
  cairn::detail::leaf& add_strided(std::string path, cairn::dtype type, std::uint64_t count, std::mt19937_64& random) {
    auto& made = add(std::move(path), type, {2 * count}, random);
    made.shape = {count};
    made.strides = {static_cast<std::int64_t>(2 * cairn::size_of(type))};
    return made;
  }
};

/// Up to `most` leaves of random dtypes, ranks and sizes: scalars, empty ones, strided ones.
inline leaves random_leaves(std::mt19937_64& random, std::size_t most, std::uint64_t most_elements) {
  leaves made;
  const std::size_t count = random() % (most + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto type = static_cast<cairn::dtype>(random() % cairn::dtype_count);
    const auto path = "layer" + std::to_string(i) + ".\"w\\" + std::to_string(random() % 1000);
    switch (random() % 8) {
      case 0:
        made.add(path, type, {}, random);
        break;
      case 1:
        made.add(path, type, {random() % 3, 0, 5}, random);
        break;
      case 2:
        made.add_strided(path, type, random() % most_elements, random);
        break;
      case 3:
        made.add(path, type, {random() % 7 + 1, 3, random() % (most_elements / 21 + 1)}, random);
        break;
      default:
        made.add(path, type, {random() % most_elements}, random);
    }
  }
  return made;
}

/// The elements of a view, packed.
inline std::vector<std::byte> packed(const cairn::detail::memory_view& view) {
  std::vector<std::byte> bytes(view.bytes());
  cairn::detail::gather(view, 0, bytes);
  return bytes;
}

/// The pieces of a leaf.
inline std::vector<cairn::detail::placed_piece> pieces_of(const cairn::detail::leaf_layout& layout,
                                                          const cairn::extents& shape) {
  std::vector<cairn::detail::placed_piece> all;
  cairn::detail::for_each_piece(layout, shape, [&](auto piece) { all.push_back(std::move(piece)); });
  return all;
}

/// Publishes `files` as checkpoint `name`.
inline void put(cairn::any_store store, std::string_view name,
                const std::vector<std::pair<std::string, std::string>>& files) {
  const auto transaction = store.begin(name);
  for (const auto& [file, text] : files) {
    auto& out = transaction->create(file, text.size());
    const cairn::stores::buffer buffers[] = {bytes_of(text)};
    out.write(0, buffers);
  }
  transaction->publish();
}

inline std::string get(const cairn::any_store& store, std::string_view name, std::string_view file) {
  const auto source = store.open(name)->open(file);
  return cairn::stores::read_text(*source, 0, source->size());
}

}  // namespace sample
