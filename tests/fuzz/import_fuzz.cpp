// SPDX-License-Identifier: MIT
// Hostile bytes as the header of an array of numpy and as a pickle of PyTorch: they are read, or cairn::error is thrown, in a bounded time.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cairn/core/error.hpp"
#include "cairn/import/npy.hpp"
#include "cairn/import/torch_pickle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    if (cairn::detail::read_npy_header(bytes, "input").data_start > size) std::abort();
  } catch (const cairn::error&) {
  }
  try {
    cairn::detail::import_memory memory;
    const auto found = cairn::detail::torch_pickle(bytes, "input", memory).read([](const auto&) { return true; });
    for (const auto& each : found.arrays)
      if (each.shape.size() != each.strides.size()) std::abort();
  } catch (const cairn::error&) {
  }
  return 0;
}
