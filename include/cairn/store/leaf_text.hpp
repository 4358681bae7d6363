// SPDX-License-Identifier: MIT
// How the parts of leaves are described in the JSON text of files: shapes, dtypes, losses, encodings, layouts; and the
// structure of a state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

inline constexpr std::size_t max_dimensions = 64;

/// A number, or an optional one that is there, as 16 hexadecimal digits.
template <class Io, class Number>
void describe_digits(Io& io, Number& number) {
  std::string digits;
  if constexpr (!Io::reads) digits = to_hex(std::optional<std::uint64_t>(number).value());
  io.value(digits);
  if constexpr (Io::reads) {
    const auto read = parse_hex(digits);
    io.require(read.has_value(), "is not 16 hexadecimal digits");
    number = read.value();
  }
}

/// A list of that many numbers.
template <class Io, class Number, std::size_t Count>
void describe_numbers(Io& io, Number* const (&numbers)[Count]) {
  const auto count = io.list(Count, [&](std::size_t i) {
    io.require(i < Count, "has more than " + std::to_string(Count) + " numbers");
    io.value(*numbers[i]);
  });
  io.require(count == Count, "has fewer than " + std::to_string(Count) + " numbers");
}

template <class Io>
void describe_shape(Io& io, described<Io, extents>& shape) {
  io.list(shape.size(), [&](std::size_t i) {
    io.require(i < max_dimensions, "has more than 64 dimensions");
    if constexpr (Io::reads) shape.emplace_back();
    io.value(shape[i]);
  });
}

template <class Io>
void describe(Io& io, described<Io, dtype>& type) {
  std::string text;
  if constexpr (!Io::reads) text = name(type);
  io.value(text);
  if constexpr (Io::reads) {
    for (const std::string_view other : {"F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "C64"})
      io.require(text != other, "is " + text + ", which cairn cannot hold", errc::unsupported);
    const auto known = parse_dtype(text);
    io.require(known.has_value(), "is the unknown dtype \"" + text + "\"");
    type = known.value();
  }
}

/// Fields of an open object: "max_error":0.5,"relative_l2":0.01,"delta_l2":0.2, the last one where it is known.
template <class Io>
void describe_loss(Io& io, described<Io, std::optional<loss>>& lost) {
  io.part("max_error", lost, &loss::max_error);
  io.part("relative_l2", lost, &loss::relative_l2);
  io.part("delta_l2", lost, &loss::delta_l2);
}

/// The same as a list: [0.5,0.01,0.2].
[[nodiscard]] inline std::vector<double> numbers_of(const loss& lost) {
  std::vector<double> numbers{lost.max_error, lost.relative_l2};
  if (lost.delta_l2) numbers.push_back(*lost.delta_l2);
  return numbers;
}

template <class Io>
void set_loss(const Io& io, loss& to, const std::vector<double>& numbers) {
  io.require(numbers.size() == 2 || numbers.size() == 3, "has a loss that is not two or three numbers");
  to = {numbers[0], numbers[1]};
  if (numbers.size() == 3) to.delta_l2 = numbers[2];
}

template <class Io>
void describe(Io& io, described<Io, loss>& lost) {
  if constexpr (Io::reads) {
    std::vector<double> numbers;
    io.value(numbers);
    set_loss(io, lost, numbers);
  } else {
    io.value(numbers_of(lost));
  }
}

/// That list, and the number of restores.
template <class Io>
void describe(Io& io, described<Io, restored_loss>& earlier) {
  std::vector<double> numbers;
  if constexpr (Io::reads) {
    io.value(numbers);
    io.require(!numbers.empty() && numbers.back() >= 1 && numbers.back() < 1e15, "has no number of restores");
    earlier.restores = static_cast<std::uint64_t>(numbers.back());
    numbers.pop_back();
    set_loss(io, earlier.sum, numbers);
  } else {
    numbers = numbers_of(earlier.sum);
    io.list(numbers.size() + 1,
            [&](std::size_t i) { i < numbers.size() ? io.value(numbers[i]) : io.value(earlier.restores); });
  }
}

/// Fields of an open object: those of a leaf with pieces that are encoded.
template <class Io>
void describe_encoding(Io& io, maybe<Io, leaf_encoding>& how) {
  io.part("codec", how, &leaf_encoding::codec);
  io.part("stored", how, &leaf_encoding::stored);
  io.part("relative", how, &leaf_encoding::relative);
  io.part("lost", how, &leaf_encoding::lost);
}

/// [0,0,1,40]: the shard and the first element of each run.
template <class Io>
void describe(Io& io, described<Io, run_layout>& runs) {
  const auto numbers = io.list(2 * runs.starts.size(), [&](std::size_t i) {
    if constexpr (Io::reads) runs.starts.resize(i / 2 + 1);
    auto& [shard, first] = runs.starts[i / 2];
    io.value(i % 2 == 0 ? shard : first);
  });
  io.require(numbers % 2 == 0, "has a shard without a first element");
}

/// [0,4,1]
template <class Io>
void describe(Io& io, described<Io, grid_layout::shard_series>& series) {
  describe_numbers(io, {&series.first, &series.count, &series.stride});
}

/// [[0,0,0,3,2]]: the shard, the first indices and the extents of each box.
template <class Io>
void describe(Io& io, described<Io, box_layout>& all) {
  io.list(all.boxes.size(), [&](std::size_t i) {
    if constexpr (Io::reads) {
      extents row;
      io.value(row);
      io.require(row.size() >= 5 && row.size() % 2 == 1, "has a box of another number of numbers");
      const auto middle = row.begin() + 1 + static_cast<std::ptrdiff_t>(row.size() / 2);
      all.boxes.emplace_back(row[0], box{{row.begin() + 1, middle}, {middle, row.end()}});
    } else {
      const auto& shard = all.boxes[i].first;
      const auto& [first, shape] = all.boxes[i].second;
      io.list(1 + first.size() + shape.size(), [&, &from = first, &extent = shape](std::size_t k) {
        io.value(k == 0 ? shard : k <= from.size() ? from[k - 1] : extent[k - 1 - from.size()]);
      });
    }
  });
}

/// A layout in the text: one of these.
template <class Io>
struct layout_text {
  maybe<Io, std::size_t> shard{};
  maybe<Io, run_layout> runs{};
  maybe<Io, grid_layout> grid{};
  maybe<Io, box_layout> boxes{};
};

/// Fields of an open object: `"shard":2`, `"runs":[0,0,1,40]`, `"grid":[[0,4,8],[3]],"shards":[[0,4,1]]` or
/// `"boxes":[[0,0,0,3,2]]`.
template <class Io>
void describe_layout(Io& io, layout_text<Io>& of) {
  io.optional("shard", of.shard);
  io.optional("runs", of.runs);
  io.part("grid", of.grid, &grid_layout::cuts);
  io.part("shards", of.grid, &grid_layout::shards);
  io.optional("boxes", of.boxes);
}

[[nodiscard]] inline layout_text<json_writer> text_of(const leaf_layout& layout) {
  const auto* cuts = layout.cuts.get();
  if (cuts == nullptr) return {.shard = &layout.shard};
  return {{}, std::get_if<run_layout>(cuts), std::get_if<grid_layout>(cuts), std::get_if<box_layout>(cuts)};
}

/// The reverse; nullopt where the text does not say in one way where the leaf is.
[[nodiscard]] inline std::optional<leaf_layout> layout_of(layout_text<json_reader>&& text) {
  const auto made = [](auto&& cuts) { return leaf_layout{0, std::make_shared<const leaf_cuts>(std::move(cuts))}; };
  auto& [shard, runs, grid, boxes] = text;
  if (int{shard.has_value()} + int{runs.has_value()} + int{grid.has_value()} + int{boxes.has_value()} != 1) return {};
  if ((grid && (grid->cuts.empty() || grid->shards.empty())) || (boxes && boxes->boxes.empty())) return {};
  if (shard) return leaf_layout{*shard, nullptr};
  if (runs) return made(std::move(*runs));
  return grid ? made(std::move(*grid)) : made(std::move(*boxes));
}

/// {"size":3}, {"keys":["bias","weight"]}: the name of the kind, and what is stored of it. A structure has one for each
/// path.
template <class Io>
void describe(Io& io, described<Io, structure_entry>& entry) {
  using kind = structure_entry::kind;
  int kinds = 0;
  const auto add = [&](std::string_view name, kind what, auto& value) {
    if constexpr (!Io::reads) {
      if (entry.what == what) io.field(name, value);
    } else if (io.optional(name, value)) {
      entry.what = what;
      ++kinds;
    }
  };
  io.object([&] {
    add("size", kind::size, entry.number);
    add("rows", kind::rows, entry.number);
    add("keys", kind::keys, entry.keys);
    add("engaged", kind::engaged, entry.number);
    add("index", kind::index, entry.number);
    add("type", kind::type, entry.text);
    add("same", kind::same, entry.text);
    add("ranks", kind::ranks, entry.number);
    add("version", kind::version, entry.number);
    add("names", kind::names, entry.keys);
  });
  io.require(kinds == 1, "does not have one kind");
}

}  // namespace cairn::inline v0_1::detail
