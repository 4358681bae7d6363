// SPDX-License-Identifier: MIT
// States for the tests of saving and loading: a small trainer, and one that holds something of everything.
#pragma once

#include "cairn/state/adapter.hpp"
#include "standard.hpp"

namespace tests {

struct network {
  std::vector<float> weight;
  std::vector<float> bias;

  friend bool operator==(const network&, const network&) = default;
};

struct trainer {
  network model;
  std::vector<double> momentum;
  std::int64_t step = 0;
  double rate = 0;
  std::mt19937 shuffle;
  std::string note;

  friend bool operator==(const trainer&, const trainer&) = default;
};

/// The state after step `step`: the same in every call.
inline trainer trained(std::uint64_t step, std::size_t parameters = 100) {
  std::mt19937_64 random(step);
  trainer made;
  for (std::size_t i = 0; i < parameters; ++i) {
    made.model.weight.push_back(static_cast<float>(random() % 1000) / 8);
    made.momentum.push_back(static_cast<double>(random()));
  }
  made.model.bias.assign(5, static_cast<float>(step));
  made.step = static_cast<std::int64_t>(step);
  made.rate = 1.0 / static_cast<double>(step + 1);
  made.shuffle.seed(static_cast<std::uint32_t>(step));
  made.note = "after step " + std::to_string(step);
  return made;
}

/// A tensor of the kind that libraries bring along.
struct matrix {
  std::vector<std::size_t> sizes{0, 0};
  std::vector<float> values;

  [[nodiscard]] const std::vector<std::size_t>& shape() const { return sizes; }
  [[nodiscard]] float* data() { return values.data(); }
  [[nodiscard]] const float* data() const { return values.data(); }
  void resize(const std::vector<std::uint64_t>& to) {
    sizes.assign(to.begin(), to.end());
    values.resize(to[0] * to[1]);
  }

  friend bool operator==(const matrix&, const matrix&) = default;
};

/// Kept as columns in a vector.
struct example {
  std::int32_t label = 0;
  float score = 0;
  std::array<double, 2> at{};

  friend bool operator==(const example&, const example&) = default;
};

struct layer {
  std::string name;
  std::vector<float> weight;
  std::optional<std::vector<float>> bias;
  std::vector<matrix> heads;

  friend bool operator==(const layer&, const layer&) = default;
};

struct everything {
  std::vector<layer> layers;
  std::map<std::string, std::vector<std::map<int, float>>> tables;
  std::unordered_map<int, std::string> names;
  std::vector<std::shared_ptr<layer>> pool;  // some of them null, some the same
  std::unique_ptr<network> spare;
  std::variant<int, std::string, std::vector<double>> choice;
  std::set<std::int64_t> seen;
  std::vector<bool> mask;
  std::deque<std::u16string> words;
  std::vector<example> examples;
  std::array<std::complex<float>, 3> waves{};
  std::tuple<bool, char, std::uint64_t> counts{};
  matrix table;
  std::mt19937_64 engine;
  std::normal_distribution<double> noise;
};

/// Whether two states are equal, down to which of their pointers share.
inline bool same(const everything& a, const everything& b) {
  const auto alike = [](const auto& p, const auto& q) { return p && q ? *p == *q : !p && !q; };
  if (a.pool.size() != b.pool.size() || !alike(a.spare, b.spare)) return false;
  for (std::size_t i = 0; i < a.pool.size(); ++i) {
    if (!alike(a.pool[i], b.pool[i])) return false;
    for (std::size_t j = 0; j < i; ++j)
      if ((a.pool[i] == a.pool[j]) != (b.pool[i] == b.pool[j])) return false;
  }
  const auto values = [](const everything& s) {
    return std::tie(s.layers, s.tables, s.names, s.choice, s.seen, s.mask, s.words, s.examples, s.waves, s.counts,
                    s.table, s.engine, s.noise);
  };
  return values(a) == values(b);
}

/// A state of random sizes and contents, many of them empty.
class random_states {
 public:
  explicit random_states(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] everything next() {
    everything made;
    fill(made.layers, 4, [&] { return next_layer(); });
    for (auto n = below(4); n > 0; --n) {
      auto& rows = made.tables[text()];
      fill(rows, 3, [&] {
        std::map<int, float> row;
        for (auto m = below(4); m > 0; --m) row[static_cast<int>(below(100)) - 50] = number();
        return row;
      });
    }
    for (auto n = below(6); n > 0; --n) made.names[static_cast<int>(below(1000)) - 500] = text();
    fill(made.pool, 5, [&]() -> std::shared_ptr<layer> {
      if (one_in(4)) return nullptr;
      if (!made.pool.empty() && one_in(2)) return made.pool[below(made.pool.size())];
      return std::make_shared<layer>(next_layer());
    });
    if (one_in(2)) made.spare = std::make_unique<network>(network{numbers(9), numbers(3)});
    if (one_in(3))
      made.choice = text();
    else if (one_in(2))
      made.choice = std::vector<double>(below(5), 0.5);
    else
      made.choice = static_cast<int>(below(100));
    for (auto n = below(6); n > 0; --n) made.seen.insert(static_cast<std::int64_t>(random_()));
    fill(made.mask, 70, [&] { return one_in(2); });
    fill(made.words, 4, [&] { return std::u16string(below(5), u'\u00e4'); });
    fill(made.examples, 20, [&] { return example{static_cast<int>(below(10)), number(), {number(), number()}}; });
    for (auto& wave : made.waves) wave = {number(), number()};
    made.counts = {one_in(2), static_cast<char>('a' + below(26)), random_()};
    made.table = next_matrix();
    made.engine.seed(random_());
    made.engine.discard(below(1000));
    if (one_in(2)) static_cast<void>(made.noise(made.engine));  // holds half a pair now
    return made;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  [[nodiscard]] float number() { return static_cast<float>(static_cast<int>(below(2001)) - 1000) / 16; }

  [[nodiscard]] std::vector<float> numbers(std::size_t end) {
    std::vector<float> made;
    fill(made, end, [&] { return number(); });
    return made;
  }

  [[nodiscard]] std::string text() {
    static constexpr std::array parts{"w", "layer.0", "\"", "\\", " ", "\xc3\xa9", "%", "/"};
    std::string made;
    for (auto n = below(4); n > 0; --n) made += parts[below(parts.size())];
    return made;
  }

  [[nodiscard]] matrix next_matrix() {
    matrix made;
    made.resize({below(4), below(5)});
    for (auto& value : made.values) value = number();
    return made;
  }

  [[nodiscard]] layer next_layer() {
    layer made{text(), numbers(200), std::nullopt, {}};
    if (one_in(2)) made.bias = numbers(4);
    fill(made.heads, 3, [&] { return next_matrix(); });
    return made;
  }

  template <class Container, class Make>
  void fill(Container& container, std::size_t end, const Make& make) {
    for (auto n = below(end); n > 0; --n) container.push_back(make());
  }

  std::mt19937_64 random_;
};

}  // namespace tests

template <>
inline constexpr bool cairn::is_container<tests::matrix> = true;
