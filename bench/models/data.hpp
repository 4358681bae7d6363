// SPDX-License-Identifier: MIT
// What the models learn: digits, ratings and text, from files or made. Each source has `size()` items, gives a batch of
// chosen ones, and the fixed batches by which a run is judged: `evaluation`, of items that it learns from, and `test`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lenet/dataset.hpp"
#include "models/parameters.hpp"

namespace bench::models {

/// How well a model does on a batch.
struct score {
  double loss = 0;
  double accuracy = 0;  ///< 0 to 1; of models that classify
};

[[nodiscard]] inline score score_of(const lenet::loss_and_delta& result, const lenet::batch& seen) {
  return {result.loss, static_cast<double>(result.correct) / static_cast<double>(seen.labels.size())};
}

using indices = std::span<const std::uint64_t>;

/// MNIST's idx files in the folder; empty: drawn digits. std::runtime_error, which names the file and the error.
class digits_source {
 public:
  explicit digits_source(const std::filesystem::path& folder);

  [[nodiscard]] std::size_t size() const { return digits_.train.size(); }
  [[nodiscard]] lenet::batch pick(indices which) const { return lenet::pick(digits_.train, which); }
  [[nodiscard]] lenet::batch evaluation() const { return first(digits_.train, 250); }
  [[nodiscard]] lenet::batch test() const { return first(digits_.test, 2000); }

 private:
  [[nodiscard]] static lenet::batch first(const lenet::dataset& from, std::size_t count);
  lenet::digits digits_;
};

/// A rating of -1 to 1.
struct rating {
  Index user = 0, item = 0;
  float value = 0;
};

/// jester5k.tsv.gz in the folder; empty: ratings of made users, whose tastes have three dimensions.
class ratings_source {
 public:
  explicit ratings_source(const std::filesystem::path& folder);

  [[nodiscard]] Index users() const { return users_; }
  [[nodiscard]] Index items() const { return items_; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::vector<rating> pick(indices which) const;
  [[nodiscard]] std::vector<rating> evaluation() const;  ///< one of eight; at most about 8,000
  [[nodiscard]] std::vector<rating> test() const { return evaluation(); }

 private:
  Index users_ = 0, items_ = 0;
  std::vector<rating> all_;
};

/// Whole sequences, one after another, and the byte that follows each.
struct text_batch {
  std::vector<std::uint8_t> tokens, next;
};

/// A made text of sentences about a small world, in 64 characters.
class text_source {
 public:
  explicit text_source(std::size_t length);

  [[nodiscard]] std::size_t size() const { return text_.size() / length_ - 1; }
  [[nodiscard]] text_batch pick(indices which) const;
  [[nodiscard]] text_batch evaluation() const;
  [[nodiscard]] text_batch test() const { return evaluation(); }

 private:
  std::size_t length_;
  std::vector<std::uint8_t> text_;
};

}  // namespace bench::models
