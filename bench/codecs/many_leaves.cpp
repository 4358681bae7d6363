// SPDX-License-Identifier: MIT
// Saves of a state of many arrays with the lossy codecs: how many deltas follow each anchor, and what they take.
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/store/memory.hpp"

#include "common/arguments.hpp"
#include "common/report.hpp"

namespace bench {
namespace {

constexpr std::string_view usage = R"(usage: many_leaves [--leaves 200] [--elements 300000] [--saves 21] [--json FILE]
Saves arrays of floats with lc2 and lc3 and an anchor every 10 checkpoints, in memory.
)";

struct result {
  std::size_t anchors = 0, deltas = 0;
  std::uint64_t delta_bytes = 0;

  /// Of the chains that are complete: the last anchor has just been made.
  [[nodiscard]] double deltas_per_anchor() const {
    return anchors < 2 ? 0 : static_cast<double>(deltas) / static_cast<double>(anchors - 1);
  }
};

result measure(const cairn::codec_rules& codecs, const arguments& chosen) {
  cairn::checkpointer run(cairn::stores::memory(), {.keep_last = 1, .codecs = codecs, .chain = {.anchor_every = 10}});
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.01F);
  std::vector<float> noise(65'536 + chosen.count("elements"));
  for (auto& x : noise) x = normal(random);
  std::vector<std::vector<float>> leaves(chosen.count("leaves"), std::vector<float>(chosen.count("elements"), 0.1F));
  result found;
  for (std::uint64_t step = 1; step <= chosen.count("saves"); ++step) {
    for (auto& leaf : leaves) {
      const auto begin = random() % 65'536;
      const float scale = 1 + static_cast<float>(random() % 7);
      for (std::size_t i = 0; i < leaf.size(); ++i) leaf[i] += scale * noise[begin + i];
    }
    const auto report = run.save(leaves, {.step = step});
    ++(report.is_delta ? found.deltas : found.anchors);
    if (report.is_delta) found.delta_bytes += report.bytes;
  }
  return found;
}

void show(const std::string& codec, const cairn::codec_rules& rules, const arguments& chosen, report& numbers) {
  const auto found = measure(rules, chosen);
  numbers.at_least("chain.deltas_per_anchor." + codec, found.deltas_per_anchor(), 9);
  numbers.number("chain.bytes_per_delta." + codec,
                 static_cast<double>(found.delta_bytes) / static_cast<double>(found.deltas));
  std::printf("%s: a delta takes %.2f MB\n", codec.c_str(),
              1e-6 * static_cast<double>(found.delta_bytes) / static_cast<double>(found.deltas));
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::arguments chosen(argc, argv, {{"leaves", "200"}, {"elements", "300000"}, {"saves", "21"}, {"json", ""}},
                                bench::usage);
  bench::report numbers;
  bench::show("lc2", {{"*", cairn::codecs::lc<2>{}}}, chosen, numbers);
  bench::show("lc3", {{"*", cairn::codecs::lc<3>{}}}, chosen, numbers);
  numbers.print_figures();
  numbers.write_json(chosen.text("json"));
  return 0;
}
