// SPDX-License-Identifier: MIT
// One way to compress arrays; Cairn's codecs and every peer are such methods, each library in a file of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "cairn/core/dtype.hpp"

namespace bench {

/// What is compressed in one go: one array of the state.
struct leaf {
  std::string path;
  cairn::dtype type{};
  std::size_t rows = 0, columns = 0;
  std::span<const std::byte> values;
  /// What a reader has of it already; empty where that is nothing. Only methods that `use_reference` look at it.
  std::span<std::byte> reference{};
};

/// What compressing one leaf gave.
struct stored {
  std::size_t bytes = 0;   ///< written to the output
  std::size_t beside = 0;  ///< to be stored beside it: tables that later leaves share
};

struct method {
  std::string name;
  /// Bytes of output that a leaf takes at most.
  std::function<std::size_t(const leaf&)> bound;
  std::function<stored(const leaf&, std::span<std::byte> out)> compress;
  /// `like` says path, type and shape; `values` are filled. With a reference they hold its elements before.
  std::function<void(const leaf& like, std::span<const std::byte> in, std::span<std::byte> values)> decompress;
  bool uses_reference = false;
  /// Begins again: nothing is known of leaves compressed before. May be null.
  std::function<void()> restart = nullptr;
};

/// memcpy: what no method can be faster than by much.
[[nodiscard]] method copy_method();
/// Cairn without loss; with `xor_parent` the difference to the reference.
[[nodiscard]] method cairn_lossless_method(bool xor_parent);
/// Cairn's lossy deltas of 2 or 3 bits; compressing brings the reference up to what a reader will have.
[[nodiscard]] method cairn_lc_method(unsigned bits);
/// One frame per leaf.
[[nodiscard]] method zstd_method(int level);
/// The bytes of all elements that have the same place in them, together; one frame of zstd -1 per such plane.
[[nodiscard]] method planes_method();
[[nodiscard]] method lz4_method();
/// Byte shuffle and zstd in blocks that stay in the cache.
[[nodiscard]] method blosc_method();
/// Lossy: no element differs by more than `tolerance`.
[[nodiscard]] method zfp_method(double tolerance);

/// Stops with a sentence when a library says that it could not do its work.
void require(bool good, const char* what);

}  // namespace bench
