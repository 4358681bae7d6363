// SPDX-License-Identifier: MIT
// How the rows of a state are divided between ranks.
#include "mpi_save/share.hpp"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

std::uint64_t elements_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const auto n : shape) count *= n;
  return count;
}

void add(share& to, rows piece) {
  to.bytes += piece.bytes;
  if (piece.count > 0) to.pieces.push_back(std::move(piece));
}

void exchange_sizes(share& mine, const world& ranks) {
  mine.bytes_of_ranks.resize(ranks.size());
  check_mpi(MPI_Allgather(&mine.bytes, 1, MPI_UINT64_T, mine.bytes_of_ranks.data(), 1, MPI_UINT64_T, ranks.comm()),
            "MPI_Allgather");
}

/// The rows of all arrays that begin in bytes [begin, end) of them.
share part_of(const training_state& state, std::uint64_t begin, std::uint64_t end) {
  share made;
  for_each_tensor(state, [&](const std::string& path, const tensor& t) {
    const auto row = t.values.size() * sizeof(float) / t.shape[0];
    const auto at = made.whole_bytes;
    const auto row_at = [&](std::uint64_t byte) {  // the first row that begins there or later
      return byte <= at ? 0 : std::min((byte - at + row - 1) / row, t.shape[0]);
    };
    const auto first = row_at(begin), last = row_at(end);
    add(made, {.path = path,
               .whole = t.shape,
               .first = first,
               .count = last - first,
               .values = t.values.data() + first * row / sizeof(float),
               .offset = at + first * row,
               .bytes = (last - first) * row});
    made.whole_bytes += t.shape[0] * row;
  });
  return made;
}

}  // namespace

share all_of(const training_state& state) {
  auto made = part_of(state, 0, size_of(state).bytes);
  made.bytes_of_ranks = {made.bytes};
  return made;
}

share equal_part(const training_state& state, const world& ranks) {
  const auto bytes = size_of(state).bytes, rank = std::uint64_t{ranks.rank()};
  auto made = part_of(state, bytes * rank / ranks.size(), bytes * (rank + 1) / ranks.size());
  exchange_sizes(made, ranks);
  return made;
}

box_tensor::box_tensor(std::string name, cairn::extents of, std::size_t d, unsigned rank, unsigned ranks)
    : path(std::move(name)), whole(std::move(of)), first(whole.size()), shape(whole) {
  d = std::min(d, whole.size() - 1);
  first[d] = whole[d] * rank / ranks;
  shape[d] = whole[d] * (rank + 1) / ranks - first[d];
  values.resize(elements_of(shape));
}

sharded_state sharded_state::make(const dimensions& of, std::size_t d, unsigned rank, unsigned ranks) {
  sharded_state made;
  const auto shapes = make_shapes(of);
  for_each_tensor(shapes, [&](const std::string& path, const tensor& t) {
    made.tensors.emplace_back(path, cairn::extents(t.shape.begin(), t.shape.end()), d, rank, ranks);
  });
  return made;
}

void sharded_state::fill() {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    tensors[i].for_each_value([&](float& value, std::uint64_t number) { value = value_at(i, number); });
}

bool sharded_state::is_intact() {
  bool intact = true;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    tensors[i].for_each_value([&](float value, std::uint64_t number) { intact &= value == value_at(i, number); });
  return intact;
}

share boxes_of(const sharded_state& state, const world& ranks) {
  share made;
  for (const auto& each : state.tensors) {
    const auto row = elements_of(each.whole) / each.whole[0] * sizeof(float);
    add(made, {.path = each.path,
               .whole = {each.whole.begin(), each.whole.end()},
               .first = each.first[0],
               .count = each.shape[0],
               .values = each.values.data(),
               .offset = made.whole_bytes + each.first[0] * row,
               .bytes = each.shape[0] * row});
    made.whole_bytes += each.whole[0] * row;
  }
  exchange_sizes(made, ranks);
  return made;
}

}  // namespace bench
