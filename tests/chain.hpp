// SPDX-License-Identifier: MIT
// What the tests of chains of checkpoints share: a state that trains, and its bits.
#pragma once

#include "cairn/chain/load.hpp"
#include "cairn/core/float_types.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/merge.hpp"
#include "cairn/state/describe.hpp"
#include "store/sample.hpp"
#include "standard.hpp"

namespace chain {

struct model {
  std::vector<float> weight;
  std::vector<float> bias;
  std::vector<cairn::bfloat16> half;
};

struct optimizer {
  std::vector<float> m;
  std::vector<float> v;
};

struct state {
  model net;
  optimizer adam;
  std::uint64_t step = 0;
};

/// Weights of about 0.03, moments of zero.
inline state start(std::mt19937& random, std::size_t parameters = 3000) {
  std::normal_distribution<float> weight(0, 0.03F);
  state made;
  for (std::size_t i = 0; i < parameters; ++i) made.net.weight.push_back(weight(random));
  for (std::size_t i = 0; i < parameters / 10; ++i) made.net.bias.push_back(weight(random));
  for (std::size_t i = 0; i < parameters / 3; ++i) made.net.half.emplace_back(weight(random));
  made.adam.m.resize(parameters);
  made.adam.v.resize(parameters);
  return made;
}

/// One step of something like Adam on made gradients.
inline void train(state& now, std::mt19937& random) {
  std::normal_distribution<float> gradient(0, 0.01F);
  for (std::size_t i = 0; i < now.net.weight.size(); ++i) {
    const float g = gradient(random);
    now.adam.m[i] = 0.9F * now.adam.m[i] + 0.1F * g;
    now.adam.v[i] = 0.99F * now.adam.v[i] + 0.01F * g * g;
    now.net.weight[i] -= 1e-3F * now.adam.m[i] / (std::sqrt(now.adam.v[i]) + 1e-8F);
  }
  for (auto& b : now.net.bias) b -= 1e-2F * gradient(random);
  for (auto& h : now.net.half) h = cairn::bfloat16(static_cast<float>(h) - gradient(random));
  ++now.step;
}

/// `n`, or nothing where it is below `least`: an option that is off.
inline std::optional<std::size_t> at_least(std::size_t least, std::size_t n) {
  return n < least ? std::nullopt : std::optional(n);
}

/// Merges after `every` deltas, if that is given.
inline std::optional<cairn::detail::merge_rule> merging(std::optional<std::size_t> every, bool to_whole = false) {
  if (!every) return std::nullopt;
  return cairn::merging{.every = *every, .to_whole = to_whole};
}

/// Path -> bytes of every leaf.
using bits = std::map<std::string, std::vector<std::byte>>;

inline bits bits_of(const state& now) {
  bits all;
  for (const auto& leaf : cairn::detail::describe(now).leaves) all[leaf.path] = sample::packed(leaf);
  return all;
}

/// What a reader gets of checkpoint `name`.
inline bits restored(const cairn::any_store& store, const std::string& name, const cairn::codec_rules& rules = {}) {
  bits all;
  cairn::detail::team alone;
  const auto read = [&](const auto& reader) {
    for (std::size_t i = 0; i < reader->contents().leaves.size(); ++i) {
      const auto& leaf = reader->contents().leaves[i];
      all[leaf.path].resize(leaf.bytes());
      reader->contents().fetch(i, all[leaf.path]);
    }
  };
  cairn::detail::with_reader(store, [&] { return name; }, rules, alone, read);
  return all;
}

/// Lossy weights, exact moments, with their XOR.
inline cairn::codec_rules mixed_rules() {
  return {{"net.*", cairn::codecs::lc<3>{}}, {"adam.m", cairn::codecs::lossless{.xor_parent = true}}};
}

}  // namespace chain
