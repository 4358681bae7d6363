// SPDX-License-Identifier: MIT
// The columns of small records, saved by Cairn to memory: a gather of strided fields with checksums, against
// memcpy.
#include "save_load/columns.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/store/memory.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"

namespace bench {
namespace {

struct particle {
  float x;
  float y;
  std::int32_t id;
};

struct swarm {
  std::vector<particle> particles;
};

}  // namespace

columns_result measure_columns(std::size_t records, std::size_t reps, std::chrono::duration<double> patience) {
  swarm state;
  state.particles.reserve(records);
  for (std::size_t i = 0; i < records; ++i)
    state.particles.push_back({static_cast<float>(i), static_cast<float>(i) * 0.5F, static_cast<std::int32_t>(i)});
  const std::size_t bytes = records * sizeof(particle);
  std::vector<particle> copy(state.particles);

  cairn::checkpointer checkpoints(cairn::stores::memory(), {.keep_last = 1, .codecs = {{"*", cairn::codecs::raw{}}}});
  std::uint64_t step = 0;
  const auto save = [&] { checkpoints.save(state, {.step = ++step}); };
  // The second save still takes new memory; from then on the store uses that of the checkpoint it has
  // removed.
  save();
  save();
  std::vector<double> saves, copies;
  for (std::size_t i = 0; i < reps; ++i) {
    if (patience.count() > 0) wait_until_idle(patience);
    copies.push_back(seconds_of([&] {
      std::memcpy(copy.data(), state.particles.data(), bytes);
      asm volatile("" : : "r"(copy.data()) : "memory");  // the copy is used: it may not be left out
    }));
    saves.push_back(seconds_of(save));
  }
  swarm back;
  checkpoints.restore(back);
  if (back.particles.size() != records || std::memcmp(back.particles.data(), state.particles.data(), bytes) != 0)
    throw std::runtime_error("the records came back different from memory");
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  return {gigabytes / median(saves), gigabytes / median(copies), median_ratio(copies, saves)};
}

}  // namespace bench
