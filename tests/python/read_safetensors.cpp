// SPDX-License-Identifier: MIT
// Writes a checkpoint of two shards, and one of four ranks, for read_safetensors.py, and what that should find in it.
// Usage: <program> <folder>

#include "cairn/checkpointer.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/encode/raw.hpp"
#include "cairn/group/threads.hpp"
#include "cairn/plan/partition.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/reader.hpp"
#include "write_checkpoint.hpp"
#include "standard.hpp"

namespace {

/// The elements' sum as the reader in Python computes it: small integers, so that every dtype holds them exactly.
struct tensor {
  std::string path;
  cairn::dtype type;
  cairn::extents shape;
  std::vector<std::byte> bytes;

  template <class Number>
  tensor(std::string p, cairn::dtype t, cairn::extents s, Number) : path(std::move(p)), type(t), shape(std::move(s)) {
    const auto count = cairn::element_count(shape);
    bytes.resize(count * sizeof(Number));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto value = static_cast<Number>(i % 100);
      std::memcpy(&bytes[i * sizeof(Number)], &value, sizeof(Number));
    }
  }
};

double value_of(const cairn::dtype type, const std::byte* at) {
  const auto as = [&](auto number) {
    std::memcpy(&number, at, sizeof number);
    return static_cast<double>(number);
  };
  switch (type) {
    case cairn::dtype::i16:
      return as(std::int16_t{});
    case cairn::dtype::u32:
      return as(std::uint32_t{});
    case cairn::dtype::f32:
      return as(float{});
    case cairn::dtype::i64:
      return as(std::int64_t{});
    case cairn::dtype::f64:
      return as(double{});
    case cairn::dtype::bf16: {
      const std::uint32_t upper = std::uint32_t{static_cast<std::uint16_t>(as(std::uint16_t{}))} << 16U;
      float value = 0;
      std::memcpy(&value, &upper, sizeof value);
      return static_cast<double>(value);
    }
    default:
      return as(std::uint8_t{});
  }
}

/// Writes what the reader should find in the shards of checkpoint `name`.
template <class Piece>
void expect(std::ofstream& expected, const std::string& name, const std::vector<cairn::detail::leaf>& leaves,
            const std::vector<std::vector<Piece>>& shards) {
  for (std::size_t s = 0; s < shards.size(); ++s)
    for (const auto& piece : shards[s]) {
      const auto& leaf = leaves[piece.leaf];
      const bool whole = piece.count == leaf.count();
      double sum = 0;
      std::uint64_t byte_sum = 0;
      const auto width = cairn::size_of(leaf.type);
      for (auto i = piece.first; i < piece.first + piece.count; ++i)
        sum += value_of(leaf.type, leaf.memory + i * width);
      for (auto i = piece.first * width; i < (piece.first + piece.count) * width; ++i)
        byte_sum += std::to_integer<std::uint64_t>(leaf.memory[i]);
      const auto slice = "[" + std::to_string(piece.first) + ":" + std::to_string(piece.first + piece.count) + "]";
      expected << name << '/' << cairn::detail::shard_file(s, shards.size()) << '\t'
               << (whole ? leaf.path : leaf.path + slice) << '\t' << cairn::name(leaf.type) << '\t'
               << cairn::to_string(whole ? leaf.shape : cairn::extents{piece.count}) << '\t' << piece.count << '\t'
               << sum << '\t' << byte_sum << '\n';
    }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  std::vector<tensor> tensors;
  tensors.emplace_back("conv.weight", cairn::dtype::f32, cairn::extents{6, 1, 5, 5}, float{});
  tensors.emplace_back("conv.bias", cairn::dtype::f64, cairn::extents{6}, double{});
  tensors.emplace_back("labels", cairn::dtype::i64, cairn::extents{1000}, std::int64_t{});
  tensors.emplace_back("pixels", cairn::dtype::u8, cairn::extents{28, 28}, std::uint8_t{});
  tensors.emplace_back("shorts", cairn::dtype::i16, cairn::extents{7}, std::int16_t{});
  tensors.emplace_back("counts", cairn::dtype::u32, cairn::extents{3, 0}, std::uint32_t{});
  tensors.emplace_back("half \"brain\" \u20ac", cairn::dtype::bf16, cairn::extents{4}, std::uint16_t{});
  tensors.emplace_back("scalar", cairn::dtype::f32, cairn::extents{}, float{});
  std::vector<cairn::detail::leaf> leaves;
  for (auto& t : tensors) {
    auto& leaf = leaves.emplace_back();
    leaf.path = t.path;
    leaf.type = t.type;
    leaf.shape = t.shape;
    leaf.memory = t.bytes.data();
  }
  cairn::any_store store = cairn::stores::directory(folder);
  const std::string name = cairn::detail::checkpoint_name(120);
  sample::checkpoint_spec spec;
  spec.leaves = leaves;
  spec.shards = cairn::detail::from_leaves<cairn::detail::write_piece>(cairn::detail::divide_evenly(leaves, 2));
  sample::write_checkpoint(store, name, spec);

  // By four ranks.
  const std::string of_ranks = cairn::detail::checkpoint_name(121);
  std::map<std::string, std::vector<float>> state{{"big", std::vector<float>(100'000)}, {"small", {1, 2, 3}}};
  for (std::size_t i = 0; i < 100'000; ++i) state["big"][i] = static_cast<float>(i % 100);
  const auto group = cairn::groups::threads::make(4);
  std::vector<std::thread> ranks;
  for (const auto& rank : group)
    ranks.emplace_back([&folder, &state, rank] {
      cairn::checkpointer checkpoints(folder, {}, rank);
      checkpoints.save(state, {.step = 121});
    });
  for (auto& each : ranks) each.join();
  const auto described = cairn::detail::describe(state).leaves;
  const cairn::plan::partition plan(cairn::plan::sizes_of(described), std::vector<cairn::plan::rank_load>(4));

  std::ofstream expected(folder + "/expected.txt");
  expected.precision(std::numeric_limits<double>::max_digits10);
  expect(expected, name, leaves, spec.shards);
  expect(expected, of_ranks, described, plan.pieces());
  return expected.flush() ? 0 : 1;
}
