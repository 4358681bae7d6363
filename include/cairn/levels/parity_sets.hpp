// SPDX-License-Identifier: MIT
// Parity over the shards of several hosts: which rank has which piece of it. Functions without any I/O.
//
// The ranks whose shards belong together are the members of a set, of which `rows` can be lost. Each shard is cut into
// chunks, `rows` fewer than there are members; zeros follow a shorter one. A stripe has a row of parity at `rows`
// members, and a chunk of each other one. With 4 members and 1 row:
//
//   member      0        1        2        3
//   stripe 0    parity   chunk 2  chunk 1  chunk 0
//   stripe 1    chunk 0  parity   chunk 2  chunk 1
//   stripe 2    chunk 1  chunk 0  parity   chunk 2
//   stripe 3    chunk 2  chunk 1  chunk 0  parity
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// A piece of a stripe. The chunks are numbered from 0 on, then the rows.
struct coded_piece {
  std::size_t number = 0;
  std::span<const std::byte> bytes{};
};

/// A code of which, in a stripe of `columns` chunks and `rows` rows, any `columns` pieces give the others.
class erasure_code {
 public:
  erasure_code(unsigned set_hosts, unsigned lost_hosts) : hosts(set_hosts), lost(lost_hosts) {}
  virtual ~erasure_code() = default;
  /// Computes the piece number `wanted` from `columns` others of its size.
  virtual void compute(std::size_t columns, std::size_t rows, std::span<const coded_piece> known, std::size_t wanted,
                       std::span<std::byte> out) const = 0;

  const unsigned hosts;  ///< of a set, at least, where there are enough
  const unsigned lost;   ///< the rows
};

/// What a member keeps: a file with a row of each of `rows` stripes.
struct parity_record {
  std::uint64_t keeper = 0;              ///< the shard of the member
  std::vector<std::uint64_t> members{};  ///< their shards
  std::uint64_t rows = 0;
  std::uint64_t chunk = 0;  ///< bytes

  friend bool operator==(const parity_record&, const parity_record&) = default;
  [[nodiscard]] bool is_same_set(const parity_record& other) const {
    return members == other.members && rows == other.rows && chunk == other.chunk;
  }

  /// Of a checkpoint with that number of shards?
  [[nodiscard]] bool is_of(std::uint64_t shards) const {
    return std::ranges::all_of(members, [&](auto each) { return each < shards; });
  }
  [[nodiscard]] std::uint64_t columns() const { return members.size() - rows; }
  [[nodiscard]] bool has(std::uint64_t shard) const { return member_of(shard) < members.size(); }
  [[nodiscard]] std::uint64_t member_of(std::uint64_t shard) const {
    return static_cast<std::uint64_t>(std::ranges::find(members, shard) - members.begin());
  }
  /// What a member has of a stripe: below `rows` that row of parity, else the chunk whose number is that much larger.
  [[nodiscard]] std::uint64_t position(std::uint64_t stripe, std::uint64_t member) const {
    return (stripe + members.size() - member) % members.size();
  }
  [[nodiscard]] std::uint64_t stripe_of(std::uint64_t member, std::uint64_t position) const {
    return (member + position) % members.size();
  }
  /// The rows of member `to` that have a chunk of member `from`, each with the number of that chunk.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> rows_with(std::uint64_t from,
                                                                               std::uint64_t to) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for (std::uint64_t row = 0; row < rows; ++row)
      if (const auto at = position(stripe_of(to, row), from); at >= rows) found.emplace_back(row, at - rows);
    return found;
  }

  // The file: piece 0 of all rows, then piece 1 of all rows, and so on.
  [[nodiscard]] std::uint64_t bytes() const { return rows * chunk; }
  [[nodiscard]] std::uint64_t piece_bytes() const {
    return std::max(most_together / members.size() / unit * unit, unit);
  }
  /// Of a row.
  [[nodiscard]] std::uint64_t size_of_piece(std::uint64_t number) const {
    return std::min(piece_bytes(), chunk - number * piece_bytes());
  }
  /// Where byte `at` of a row is.
  [[nodiscard]] std::uint64_t offset(std::uint64_t row, std::uint64_t at) const {
    const auto number = at / piece_bytes();
    return number * piece_bytes() * rows + row * size_of_piece(number) + at % piece_bytes();
  }

  static constexpr std::uint64_t unit = std::uint64_t{64} << 10U;  ///< chunks and pieces are multiples of it
  static constexpr std::uint64_t most_members = 128, most_together = std::uint64_t{4} << 20U;
  /// For shards of at most `longest` bytes.
  [[nodiscard]] static std::uint64_t chunk_for(std::uint64_t longest, std::uint64_t columns) {
    return (longest / columns / unit + 1) * unit;
  }
};

template <class Io>
void describe(Io& io, described<Io, parity_record>& record) {
  io.object([&] {
    io.field("keeper", record.keeper);
    io.field("members", record.members);
    io.field("rows", record.rows);
    io.field("chunk", record.chunk);
  });
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50U;
  const std::set<std::uint64_t> different(record.members.begin(), record.members.end());
  io.require(record.rows > 0 && record.rows < record.members.size() &&
                 record.members.size() <= parity_record::most_members && different.size() == record.members.size() &&
                 different.contains(record.keeper) && record.chunk > 0 && record.chunk % parity_record::unit == 0 &&
                 record.chunk <= most_bytes,
             "is no record of parity");
}

}  // namespace cairn::inline v0_1::detail
