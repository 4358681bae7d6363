// SPDX-License-Identifier: MIT
// A small GPT: a transformer that predicts the next character of a text.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace gpt {

namespace nn = torch::nn;

struct sizes {
  std::int64_t tokens = 128, window = 32, width = 32, heads = 2, blocks = 2;
};

/// Causal self-attention.
struct attention_impl : nn::Module {
  explicit attention_impl(const sizes& of) : heads(of.heads) {
    query_key_value =
        register_module("query_key_value", nn::Linear(of.width, 3 * of.width));
    output = register_module("output", nn::Linear(of.width, of.width));
  }

  torch::Tensor forward(const torch::Tensor& x) {  // [batch, length, width]
    const auto shape = x.sizes();
    const auto by_head = [&](const torch::Tensor& of) {
      return of.view({shape[0], shape[1], heads, shape[2] / heads}).transpose(1, 2);
    };
    const auto parts = query_key_value->forward(x).chunk(3, -1);
    const auto query = by_head(parts[0]), key = by_head(parts[1]),
               value = by_head(parts[2]);
    auto scores = query.matmul(key.transpose(-2, -1)) /
                  std::sqrt(static_cast<double>(shape[2] / heads));
    const auto later = torch::ones({shape[1], shape[1]}, torch::kBool).triu(1);
    scores =
        scores.masked_fill(later, -std::numeric_limits<float>::infinity()).softmax(-1);
    return output->forward(scores.matmul(value).transpose(1, 2).reshape(shape));
  }

  std::int64_t heads;
  nn::Linear query_key_value{nullptr}, output{nullptr};
};
TORCH_MODULE_IMPL(attention, attention_impl);

struct block_impl : nn::Module {
  explicit block_impl(const sizes& of) {
    first_norm =
        register_module("first_norm", nn::LayerNorm(nn::LayerNormOptions({of.width})));
    self_attention = register_module("self_attention", attention(of));
    second_norm =
        register_module("second_norm", nn::LayerNorm(nn::LayerNormOptions({of.width})));
    mlp = register_module("mlp",
                          nn::Sequential(nn::Linear(of.width, 4 * of.width), nn::GELU(),
                                         nn::Linear(4 * of.width, of.width)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto seen = x + self_attention->forward(first_norm->forward(x));
    return seen + mlp->forward(second_norm->forward(seen));
  }

  nn::LayerNorm first_norm{nullptr}, second_norm{nullptr};
  attention self_attention{nullptr};
  nn::Sequential mlp{nullptr};
};
TORCH_MODULE_IMPL(block, block_impl);

struct model_impl : nn::Module {
  explicit model_impl(const sizes& of = {}) {
    tokens = register_module("tokens", nn::Embedding(of.tokens, of.width));
    positions = register_module("positions", nn::Embedding(of.window, of.width));
    for (std::int64_t i = 0; i < of.blocks; ++i) blocks->push_back(block(of));
    register_module("blocks", blocks);
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({of.width})));
  }

  /// The mean cross-entropy of windows of shape [batch, length + 1]: inputs and
  /// targets, shifted by one.
  torch::Tensor loss(const torch::Tensor& windows) {
    const auto inputs = windows.slice(1, 0, -1), targets = windows.slice(1, 1);
    auto x =
        tokens->forward(inputs) + positions->forward(torch::arange(inputs.size(1)));
    for (const auto& each : *blocks) x = each->as<block_impl>()->forward(x);
    // shares the weights of the embedding
    const auto logits = norm->forward(x).matmul(tokens->weight.t());
    return torch::cross_entropy_loss(logits.flatten(0, 1), targets.flatten());
  }

  nn::Embedding tokens{nullptr}, positions{nullptr};
  nn::ModuleList blocks;
  nn::LayerNorm norm{nullptr};
};
TORCH_MODULE_IMPL(model, model_impl);

}  // namespace gpt
