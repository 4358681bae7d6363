// SPDX-License-Identifier: MIT
// The turns of a contest, and one turn of a method without loss.
#include "codecs/contest.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace bench {
namespace {

std::span<const float> floats(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

/// Throws where a leaf came back with other bytes or, where an error is allowed, farther off.
void check(const method& m, const leaf& original, std::span<const std::byte> back, double max_error, deviation& sum) {
  bool good = false;
  if (max_error == 0) {
    good = std::memcmp(back.data(), original.values.data(), back.size()) == 0;
  } else {
    sum.add(floats(back), floats(original.values));
    good = sum.largest <= max_error;
  }
  if (!good) throw std::runtime_error(m.name + " gave other values of " + original.path);
}

}  // namespace

void deviation::add(std::span<const float> a, std::span<const float> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = std::max(largest, difference);
    squares += difference * difference;
  }
  elements += a.size();
}

buffers::buffers(std::span<const leaf> leaves, std::span<const method> methods) {
  for (const auto& l : leaves) {
    std::size_t bytes = 0;
    for (const auto& m : methods) bytes = std::max(bytes, m.bound(l));
    packed.emplace_back(bytes);
    unpacked.emplace_back(l.values.size());
  }
}

std::vector<result> hold(std::vector<contestant> contestants, const patience& how) {
  for (auto& c : contestants) {
    c.run(c.measured);
    c.measured.compress.clear();
    c.measured.decompress.clear();
  }
  std::size_t last = how.repetitions;
  interleave(std::span(contestants), how.repetitions, [&](contestant& c, std::size_t repetition) {
    if (repetition != last && how.wait.count() > 0) wait_until_idle(how.wait);
    last = repetition;
    c.run(c.measured);
  });
  std::vector<result> results;
  for (auto& c : contestants) results.push_back(std::move(c.measured));
  return results;
}

contestant contestant_of(const method& m, std::span<const leaf> leaves, buffers& memory, double max_error) {
  const auto run = [m, leaves, &memory, max_error](result& r) {
    auto& [packed, unpacked] = memory;
    std::vector<std::size_t> sizes(leaves.size());
    r.stored = 0;
    r.compress.push_back(cpu_seconds_of([&] {
      if (m.restart) m.restart();
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        const auto made = m.compress(leaves[i], packed[i]);
        sizes[i] = made.bytes;
        r.stored += made.bytes + made.beside;
      }
    }));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      std::fill(unpacked[i].begin(), unpacked[i].end(), std::byte{0xA5});
      std::copy(leaves[i].reference.begin(), leaves[i].reference.end(), unpacked[i].begin());
    }
    r.decompress.push_back(cpu_seconds_of([&] {
      for (std::size_t i = 0; i < leaves.size(); ++i)
        m.decompress(leaves[i], std::span(packed[i]).first(sizes[i]), unpacked[i]);
    }));
    deviation off;
    for (std::size_t i = 0; i < leaves.size(); ++i) check(m, leaves[i], unpacked[i], max_error, off);
    r.max_error = off.largest;
    r.rms_error = max_error == 0 ? 0 : off.rms();
  };
  std::size_t bytes = 0;
  for (const auto& l : leaves) bytes += l.values.size();
  return {{.method = m.name, .bytes = bytes}, run};
}

std::vector<result> compare_lossless(const data_set& data, std::span<const method> methods, const patience& how) {
  buffers memory(data.leaves, methods);
  std::vector<contestant> contestants;
  for (const auto& m : methods) {
    const bool differences = !m.uses_reference && !data.differences.empty();
    contestants.push_back(contestant_of(m, differences ? data.differences : data.leaves, memory));
  }
  return hold(std::move(contestants), how);
}

std::vector<result> together(std::span<const std::vector<result>> parts) {
  auto sum = parts.front();
  for (const auto& part : parts.subspan(1)) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i].bytes += part[i].bytes;
      sum[i].stored += part[i].stored;
      for (std::size_t r = 0; r < sum[i].compress.size(); ++r) {
        sum[i].compress[r] += part[i].compress[r];
        sum[i].decompress[r] += part[i].decompress[r];
      }
    }
  }
  return sum;
}

}  // namespace bench
