// SPDX-License-Identifier: MIT
#include "levels/parity.hpp"

#include <array>
#include <memory>
#include <vector>

#include "cairn/parity.hpp"
#include "common/statistics.hpp"
#include "levels/plain_ranks.hpp"

namespace bench {

void measure_parity(std::size_t repetitions, report& to) {
  constexpr std::size_t columns = 6, rows = 2, times = 200;
  cairn::detail::parity_record set{.rows = rows};
  set.members.resize(columns + rows);
  const std::size_t bytes = set.piece_bytes();
  const std::shared_ptr<const cairn::detail::erasure_code> code = cairn::parity{.hosts = columns + rows, .lost = rows};
  std::vector<page_memory> pieces;
  for (std::size_t i = 0; i < columns + rows; ++i) pieces.push_back(pages_of(bytes));
  std::vector<cairn::detail::coded_piece> data;
  for (std::size_t i = 0; i < columns; ++i) data.push_back({i, std::span(pieces[i].get(), bytes)});
  std::array<unsigned char, (columns + rows) * columns> matrix{};
  std::array<unsigned char, 32 * columns * rows> tables{};
  std::array<unsigned char*, columns> from{};
  for (std::size_t i = 0; i < columns; ++i) from[i] = bytes_of(pieces[i]);
  std::array<unsigned char*, rows> out{bytes_of(pieces[columns]), bytes_of(pieces[columns + 1])};
  ::gf_gen_cauchy1_matrix(matrix.data(), columns + rows, columns);
  std::vector<double> ours, plain;
  for (std::size_t i = 0; i < 5 * repetitions; ++i) {
    ours.push_back(seconds_of([&] {
      for (std::size_t k = 0; k < times; ++k)
        for (std::size_t row = 0; row < rows; ++row)
          code->compute(columns, rows, data, columns + row, std::span(pieces[columns + row].get(), bytes));
    }));
    plain.push_back(seconds_of([&] {
      for (std::size_t k = 0; k < times; ++k) {
        ::ec_init_tables(columns, rows, matrix.data() + columns * columns, tables.data());
        ::ec_encode_data(static_cast<int>(bytes), columns, rows, tables.data(), from.data(), out.data());
      }
    }));
  }
  to.number("levels.encode_gb_s", static_cast<double>(times * columns * bytes) / 1e9 / median(ours));
  to.at_least("levels.encode_over_isal", median_ratio(plain, ours), 0.8);
}

}  // namespace bench
