// SPDX-License-Identifier: MIT
// Parity over the disks of hosts, computed by ISA-L: link the CMake target cairn::parity, or libisal.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <isa-l/erasure_code.h>

#include "cairn/core/error.hpp"
#include "cairn/each_host.hpp"
#include "cairn/levels/parity_sets.hpp"

namespace cairn::inline v0_1 {

namespace detail {

/// Cauchy matrices over GF(2^8).
class isal_code final : public erasure_code {
 public:
  using erasure_code::erasure_code;
  void compute(std::size_t columns, std::size_t rows, std::span<const coded_piece> known, std::size_t wanted,
               std::span<std::byte> out) const override {
    using bytes = std::vector<unsigned char>;
    constexpr std::size_t table_bytes = 32;  // of a coefficient
    const auto count = static_cast<int>(columns);
    bytes all((columns + rows) * columns), of_known, inverse(columns * columns), row(columns),
        tables(columns * table_bytes);
    ::gf_gen_cauchy1_matrix(all.data(), static_cast<int>(columns + rows), count);
    std::vector<unsigned char*> from;
    for (const auto& each : known.first(columns)) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(each.number * columns);
      of_known.insert(of_known.end(), at, at + count);
      from.push_back(const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(each.bytes.data())));
    }
    if (::gf_invert_matrix(of_known.data(), inverse.data(), count) != 0)
      fail(errc::invalid, {"parity: the same piece twice"});
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        row[i] = static_cast<unsigned char>(row[i] ^ ::gf_mul(all[wanted * columns + j], inverse[j * columns + i]));
    ::ec_init_tables(count, 1, row.data(), tables.data());
    auto* to = reinterpret_cast<unsigned char*>(out.data());
    ::ec_encode_data(static_cast<int>(out.size()), count, 1, tables.data(), from.data(), &to);
  }
};

}  // namespace detail

/// Parity over the shards of `hosts` hosts, for each_host_options::parity: `lost` of them may be lost. Each rank stores
/// lost / (hosts - lost) of the bytes of its shard, and sends `lost` times its shard.
struct parity {
  unsigned hosts = 4;  ///< with D hosts there are max(1, D / hosts) sets of about as many hosts; at most 64
  unsigned lost = 1;   ///< below `hosts`

  static constexpr unsigned most_hosts = 64;  ///< in `hosts`

  /// errc::invalid.
  operator std::shared_ptr<const detail::erasure_code>() const {  // NOLINT: for each_host_options::parity
    if (lost == 0 || lost >= hosts || hosts > most_hosts)
      fail(errc::invalid, {"parity: `lost` is ", lost, " and `hosts` ", hosts, ": 0 < lost < hosts <= ", most_hosts});
    return std::make_shared<detail::isal_code>(hosts, lost);
  }
};

}  // namespace cairn::inline v0_1
