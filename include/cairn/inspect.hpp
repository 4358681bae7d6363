// SPDX-License-Identifier: MIT
// Looks into a checkpoint without a state: its step, metrics and tensors, and the values of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/report.hpp"
#include "cairn/state/category.hpp"
#include "cairn/store/base.hpp"

namespace cairn::inline v0_1 {

/// A tensor of a checkpoint.
struct tensor_info {
  std::string name;                ///< the path of the leaf in the state: "model.weight"
  dtype type{};                    ///< of its elements
  extents shape;                   ///< elements along each dimension; empty for a scalar
  std::uint64_t bytes = 0;         ///< of its elements, decoded
  std::uint64_t stored_bytes = 0;  ///< in the files of this checkpoint
  std::string codec{};             ///< by name; empty: stored as it is
  bool is_delta = false;           ///< its values need the parent checkpoint too
  std::optional<loss> lost{};      ///< what a lossy codec lost; the largest of its pieces
  restored_loss restored{};        ///< what restores from lossy checkpoints had lost before
};

class checkpoint;

namespace detail {
class chain_reader;
[[nodiscard]] const chain_reader& reader_of(const checkpoint& of) noexcept;

// clang-format off
template <class T>
concept readable_element = requires { detail::dtype_of<T>(); } && !std::is_const_v<T> && !std::is_same_v<T, bool>;  // cairn: read<T> takes the type of one element, such as float; for bool, which a std::vector has no memory of, use read(name, span of bytes)
// clang-format on
}  // namespace detail

/// A checkpoint, open for reading, and those that it is built on. Copies share the files. If they have at most 64
/// shards in all, and the process may open four times as many files, these stay readable when the checkpoints are
/// removed, as by a merge; else what has not been read gives errc::not_found, and has to be opened again. Thread-safe.
class checkpoint {
 public:
  /// See cairn::open.
  explicit checkpoint(std::shared_ptr<const detail::chain_reader> reader);

  // What is asked of a temporary, as in `open(path).tensors()`, is a copy.
  /// The path of the checkpoint, or its place in a store.
  [[nodiscard]] const std::string& path() const&;
  /// As above.
  [[nodiscard]] std::string path() &&;
  /// The step that it was saved at.
  [[nodiscard]] std::uint64_t step() const;
  /// The metrics of that step, by name.
  [[nodiscard]] const std::map<std::string, double>& metrics() const&;
  /// As above.
  [[nodiscard]] std::map<std::string, double> metrics() &&;
  /// Texts of the user: see checkpointer_options.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const&;
  /// As above.
  [[nodiscard]] std::map<std::string, std::string> metadata() &&;

  /// Sorted by name. The first call makes the list.
  [[nodiscard]] const std::vector<tensor_info>& tensors() const&;
  /// As above.
  [[nodiscard]] std::vector<tensor_info> tensors() &&;
  /// Whether there is a tensor of that name. O(log n).
  [[nodiscard]] bool contains(std::string_view name) const noexcept;
  /// errc::not_found when there is no such tensor. O(log n).
  [[nodiscard]] tensor_info tensor(std::string_view name) const;

  /// Reads a tensor, row-major and verified. errc::not_found when there is no such tensor; mismatch when `into` has
  /// another size; unsupported for a codec that is not included; corrupt, io.
  void read(std::string_view name, std::span<std::byte> into) const;
  /// As above, as a vector of T. errc::mismatch also when the tensor is of another dtype than T.
  template <detail::readable_element T>
  [[nodiscard]] std::vector<T> read(std::string_view name) const {
    std::vector<T> values(elements_of(name, detail::dtype_of<T>()));
    read(name, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Checks all stored bytes against their checksums, those of the checkpoints that it is built on included.
  /// errc::corrupt names file, byte and tensor; io. Does not decode: a codec that is not included is no error.
  void verify(unsigned threads = 0) const;

 private:
  friend const detail::chain_reader& detail::reader_of(const checkpoint& of) noexcept;

  [[nodiscard]] const detail::chain_reader& reader() const noexcept;
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
  [[nodiscard]] std::size_t elements_of(std::string_view name, dtype type) const;

  struct contents;
  std::shared_ptr<const contents> contents_;
};

/// A checkpoint of a place, as its index describes it.
struct checkpoint_summary {
  std::string name;                         ///< in its store
  std::uint64_t step = 0;                   ///< that it was saved at
  std::map<std::string, double> metrics{};  ///< of that step, by name
  std::uint64_t bytes = 0;                  ///< of its files
  std::string parent{};                     ///< the checkpoint that a delta is built on; empty: none
  std::string problem{};                    ///< why its index cannot be read, so that only name and step are known
};

/// All checkpoints of a store, in the order of `checkpoint_before`: by step. Reads the index of each, and nothing else.
/// One whose index cannot be read is listed with its problem. errc::io if the store cannot be listed.
[[nodiscard]] std::vector<checkpoint_summary> list_checkpoints(const any_store& store);

/// As above, of a directory of checkpoints. errc::not_found if there is no such directory.
[[nodiscard]] std::vector<checkpoint_summary> list_checkpoints(const std::string& path);

/// Opens the checkpoint at `path`: a checkpoint, a directory of checkpoints (the newest one, also if it is damaged), or
/// a single safetensors file of any origin. `codecs`: a user's own. Errors: not_found, corrupt, unsupported, io.
[[nodiscard]] checkpoint open(const std::string& path, const codec_rules& codecs = {});

/// Opens the newest checkpoint of a store, also if it is damaged.
[[nodiscard]] checkpoint open(const any_store& store, const codec_rules& codecs = {});

/// Opens checkpoint `name` of a store.
[[nodiscard]] checkpoint open(const any_store& store, std::string_view name, const codec_rules& codecs = {});

}  // namespace cairn::inline v0_1
