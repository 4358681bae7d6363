// SPDX-License-Identifier: MIT
// Runs all kernels and all codecs; compiled into every unit, with its own flags.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/encode/simd/buckets.hpp"
#include "cairn/encode/simd/half_floats.hpp"
#include "cairn/encode/simd/planes.hpp"
#include "cairn/encode/simd/ratios.hpp"
#include "cairn/encode/simd/symbols.hpp"
#include "cairn/encode/simd/zeros.hpp"
#include "unit.hpp"

namespace units {
namespace {

using bytes = std::vector<std::byte>;
constexpr std::size_t count = 70'001;

bytes some_bytes(std::size_t size, std::uint32_t state) {
  bytes made(size);
  for (auto& each : made) {
    state = state * 1664525 + 1013904223;
    each = static_cast<std::byte>(state >> 24);
  }
  return made;
}

/// Floating-point numbers of few exponents, some of them 0.
bytes some_numbers(cairn::dtype type, std::uint32_t seed) {
  const std::size_t width = cairn::size_of(type);
  auto made = some_bytes(count * width, seed);
  for (std::size_t i = 0; i < count; ++i) {
    auto& top = made[i * width + width - 1];
    top = static_cast<std::byte>(0x3C | (std::to_integer<unsigned>(top) & 0x81));
    if (i % 5 == 0) std::memset(made.data() + i * width, 0, width);
  }
  return made;
}

void run_codec(const std::string& name, const cairn::any_codec& codec, cairn::dtype type, finding& found) {
  const auto values = some_numbers(type, 2);
  auto reference = some_numbers(type, 3), back = reference;
  bytes out(codec.bound(type, values.size()));
  const auto done = codec.encode({.path = "p", .type = type, .values = values, .reference = reference}, out);
  out.resize(done.bytes);
  found.results[name] = cairn::detail::checksum(out);
  if (done.codec.empty()) return;
  found.codecs[name] = done.codec;
  cairn::code_tables tables;
  for (const auto& table : done.tables) tables.add(table);
  cairn::detail::codec_named(done.codec, {}, "f")
      .decode({.where = "f",
               .path = "p",
               .type = type,
               .payload = out,
               .values = back,
               .known_tables = &tables,
               .relative = done.relative});
  found.results[name + " decoded"] = cairn::detail::checksum(back);
  found.results[name + " reference"] = cairn::detail::checksum(reference);
}

finding find() {
  using namespace cairn::detail::simd;
  finding found;
  found.targets = {{"planes", planes().target},           {"zeros", zeros().target},   {"buckets", buckets().target},
                   {"half floats", half_floats().target}, {"ratios", ratios().target}, {"symbols", symbols().target}};
  for (const std::size_t width : {2U, 4U, 8U}) {
    auto values = some_bytes(count * width, 1);
    for (std::size_t i = 0; i < count; i += 3) std::memset(values.data() + i * width, 0, width);
    const auto key = " of " + std::to_string(width) + " bytes";
    bytes split(values.size()), marks((count + 7) / 8), packed(values.size() + 16), merged(values.size());
    std::byte* to[8] = {};
    const std::byte* from[8] = {};
    for (std::size_t b = 0; b < width; ++b) from[b] = to[b] = split.data() + b * count;
    planes().of_width(width).split(values.data(), count, true, to);
    planes().of_width(width).merge(from, count, true, merged.data());
    found.results["split" + key] = cairn::detail::checksum(split);
    found.results["merged" + key] = cairn::detail::checksum(merged);
    zeros().of_width(width).mark(values.data(), count, marks.data());
    packed.resize(width * zeros().of_width(width).pack(values.data(), marks.data(), count, packed.data()));
    found.results["marked" + key] = cairn::detail::checksum(marks);
    found.results["packed" + key] = cairn::detail::checksum(packed);
  }
  for (const auto type : {cairn::dtype::f32, cairn::dtype::bf16, cairn::dtype::f16}) {
    const auto key = " of " + std::string(name(type));
    run_codec("lossless" + key, cairn::codecs::lossless{.xor_parent = true}, type, found);
    run_codec("lc2" + key, cairn::codecs::lc<2>{}, type, found);
    run_codec("lc3" + key, cairn::codecs::lc<3>{}, type, found);
    run_codec("lc3 of ratios" + key, cairn::codecs::lc<3>{.delta = cairn::delta_kind::ratio}, type, found);
  }
  return found;
}

}  // namespace
}  // namespace units
