// SPDX-License-Identifier: MIT
// One turn of deltas over a chain, and the contest of a chain.
#include "codecs/chain.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

data_set snapshot(std::span<const parameter> parameters, const parameter_values& values) {
  return as_fp32("model", parameters, values);
}

/// Writer and reader of a chain of deltas, and what lies between them.
class delta_chain {
 public:
  delta_chain(method m, std::span<const parameter> parameters, const weight_chain& chain)
      : method_(std::move(m)), chain_(chain), written_(chain.snapshots.front()), read_(written_) {
    for (std::size_t t = 1; t < chain.snapshots.size(); ++t)
      checkpoints_.push_back(snapshot(parameters, chain.snapshots[t]).leaves);
    for (auto& leaves : checkpoints_)
      for (std::size_t i = 0; i < leaves.size(); ++i)
        leaves[i].reference = std::as_writable_bytes(std::span(written_[i]));
    for (const auto& l : checkpoints_.front()) packed_.emplace_back(method_.bound(l));
    payloads_.resize(checkpoints_.size());
  }

  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& leaves : checkpoints_)
      for (const auto& l : leaves) sum += l.values.size();
    return sum;
  }

  void run(result& r) {
    written_ = read_ = chain_.snapshots.front();
    if (method_.restart) method_.restart();
    r.stored = 0;
    double compress = 0, decompress = 0;
    for (std::size_t t = 0; t < checkpoints_.size(); ++t) {
      compress += write(t, r);
      deviation off;
      for (std::size_t i = 0; i < written_.size(); ++i) off.add(written_[i], chain_.snapshots[t + 1][i]);
      r.max_error = std::max(r.max_error, off.largest);
      r.rms_error = std::max(r.rms_error, off.rms());
    }
    for (std::size_t t = 0; t < checkpoints_.size(); ++t) decompress += read(t);
    for (std::size_t i = 0; i < written_.size(); ++i)
      if (std::memcmp(read_[i].data(), written_[i].data(), written_[i].size() * sizeof(float)) != 0)
        throw std::runtime_error(method_.name + ": reader and writer hold different values");
    r.compress.push_back(compress);
    r.decompress.push_back(decompress);
  }

 private:
  double write(std::size_t t, result& r) {
    const auto& leaves = checkpoints_[t];
    std::vector<std::size_t> sizes(leaves.size());
    const double seconds = cpu_seconds_of([&] {
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        const auto made = method_.compress(leaves[i], packed_[i]);
        sizes[i] = made.bytes;
        r.stored += made.bytes + made.beside;
      }
    });
    payloads_[t].clear();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const auto payload = std::span(packed_[i]).first(sizes[i]);
      payloads_[t].emplace_back(payload.begin(), payload.end());
    }
    return seconds;
  }

  double read(std::size_t t) {
    return cpu_seconds_of([&] {
      for (std::size_t i = 0; i < payloads_[t].size(); ++i)
        method_.decompress(checkpoints_[t][i], payloads_[t][i], std::as_writable_bytes(std::span(read_[i])));
    });
  }

  method method_;
  const weight_chain& chain_;
  parameter_values written_, read_;  ///< what the writer takes the reader to have, and what it has
  std::vector<std::vector<leaf>> checkpoints_;
  std::vector<std::vector<std::byte>> packed_;
  std::vector<std::vector<std::vector<std::byte>>> payloads_;
};

contestant deltas_of(const method& m, std::span<const parameter> parameters, const weight_chain& chain) {
  const auto deltas = std::make_shared<delta_chain>(m, parameters, chain);
  return {{.method = m.name, .bytes = deltas->size()}, [deltas](result& r) { deltas->run(r); }};
}

/// memcpy of every snapshot but the oldest, into the same memory.
contestant copies_of(const weight_chain& chain) {
  const auto copy = std::make_shared<parameter_values>(chain.snapshots.front());
  const auto run = [copy, &chain](result& r) {
    r.compress.push_back(cpu_seconds_of([&] {
      for (std::size_t t = 1; t < chain.snapshots.size(); ++t)
        for (std::size_t i = 0; i < copy->size(); ++i) {
          auto& to = (*copy)[i];
          std::memcpy(to.data(), chain.snapshots[t][i].data(), to.size() * sizeof(float));
        }
    }));
    r.decompress.push_back(r.compress.back());
  };
  std::size_t bytes = 0;
  for (const auto& values : *copy) bytes += values.size() * sizeof(float);
  bytes *= chain.snapshots.size() - 1;
  return {{.method = "memcpy", .bytes = bytes, .stored = bytes}, run};
}

parameter_values difference(const parameter_values& newer, const parameter_values& older) {
  auto values = newer;
  for (std::size_t i = 0; i < values.size(); ++i)
    std::transform(values[i].begin(), values[i].end(), older[i].begin(), values[i].begin(), std::minus<>{});
  return values;
}

/// The method with the loosest tolerance whose real error stays within `max_error`: some keep far below their
/// tolerance.
method loosest(const std::function<method(double)>& make, double max_error, std::span<const leaf> leaves,
               buffers& memory) {
  auto chosen = make(max_error);
  for (double tolerance = 2 * max_error; tolerance < 1000 * max_error; tolerance *= 2) {
    auto looser = make(tolerance);
    result r;
    contestant_of(looser, leaves, memory, std::numeric_limits<double>::infinity()).run(r);
    if (r.max_error > max_error) break;
    chosen = std::move(looser);
  }
  return chosen;
}

std::string last_word(const std::string& words) { return words.substr(words.rfind(' ') + 1); }

}  // namespace

std::vector<result> compare_chain(std::span<const parameter> parameters, const weight_chain& chain,
                                  const chain_methods& methods, const patience& how) {
  const weight_chain first{chain.apart, {chain.snapshots[0], chain.snapshots[1]}};
  const auto first_difference = difference(chain.snapshots[1], chain.snapshots[0]);
  const auto weights = snapshot(parameters, chain.snapshots.back()), delta = snapshot(parameters, first_difference);

  std::vector<contestant> contestants{copies_of(chain)};
  for (const auto& m : methods.deltas) contestants.push_back(deltas_of(m, parameters, chain));
  buffers memory(weights.leaves, methods.whole);
  for (const auto& m : methods.whole) contestants.push_back(contestant_of(m, weights.leaves, memory));

  std::deque<buffers> more_memory;
  const auto add_bounded = [&](const char* what, const method& like, const weight_chain& errors_of,
                               const data_set& data) {
    auto measured = deltas_of(like, parameters, errors_of);
    measured.run(measured.measured);
    const double max_error = measured.measured.max_error;
    const auto tightest = methods.bounded(max_error);
    auto& own = more_memory.emplace_back(data.leaves, std::span(&tightest, 1));
    auto m = loosest(methods.bounded, max_error, data.leaves, own);
    m.name += what + last_word(like.name);
    contestants.push_back(contestant_of(m, data.leaves, own, max_error));
  };
  if (methods.bounded) {
    for (const auto& m : methods.deltas) {
      add_bounded(", error of ", m, chain, weights);
      add_bounded(" of a delta, error of ", m, first, delta);
    }
  }
  return hold(std::move(contestants), how);
}

}  // namespace bench
