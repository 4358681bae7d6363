// SPDX-License-Identifier: MIT
// Cairn and its peers.
#include "rework/writers.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/inspect.hpp"
#include "cairn/schedule/every.hpp"
#include "cairn/store/memory.hpp"

namespace bench::rework {
namespace {

using models::part;
using models::snapshot;
using models::training;

/// Code tables in the header of a shard: each is a text of 256 digits, of four bits.
double table_bytes(const cairn::stores::source& shard) {
  std::uint64_t length = 0;
  shard.read(0, std::as_writable_bytes(std::span(&length, 1)));
  const auto header = cairn::stores::read_text(shard, 8, length);
  double bytes = 0;
  for (std::size_t i = 0, digits = 0; i < header.size(); ++i) {
    digits = std::isxdigit(static_cast<unsigned char>(header[i])) != 0 ? digits + 1 : 0;
    if (digits == 256) bytes += 128, digits = 0;
  }
  return bytes;
}

double payload_bytes(const cairn::stores::memory& store) {
  const auto newest = store.list().back();
  double bytes = 0;
  for (const auto& tensor : cairn::open(cairn::any_store(store), newest).tensors())
    bytes += static_cast<double>(tensor.stored_bytes);
  for (const auto& file : store.open(newest)->files())
    if (file.ends_with(".safetensors")) bytes += table_bytes(*store.open(newest)->open(file));
  return bytes;
}

class cairn_writer final : public checkpoint_writer {
 public:
  cairn_writer(training& run, part what, codec_setting how) : what_(what), how_(std::move(how)) {
    open().save(run.state(what_), {.step = run.iteration()});
  }

  double save(training& run, double /*budget*/) override {
    checkpoints_->save(run.state(what_), {.step = run.iteration()});
    return payload_bytes(store_);
  }

  void restore(training& run) override {
    checkpoints_.reset();
    const auto loaded = open().restore(run.state(what_));
    if (!loaded) throw std::runtime_error("there is no checkpoint to restore");
    run.restored(what_, loaded->step);
  }

 private:
  cairn::checkpointer& open() {
    return checkpoints_.emplace(cairn::any_store(store_),
                                cairn::checkpointer_options{.when = cairn::policies::every_steps{0},
                                                            .codecs = how_.rules,
                                                            .chain = {.anchor_every = how_.anchor_every}});
  }

  part what_;
  codec_setting how_;
  cairn::stores::memory store_;
  std::optional<cairn::checkpointer> checkpoints_;  ///< a new one after each failure
};

/// All arrays that a checkpoint has, and the bytes of their elements.
template <class Body>
void for_each_saved(part what, double bytes_per_weight, snapshot& state, snapshot& saved, const Body& body) {
  for (std::size_t i = 0; i < state.weights.size(); ++i) body(state.weights[i], saved.weights[i], bytes_per_weight);
  if (what == part::weights_and_optimizer)
    for (std::size_t i = 0; i < state.slots.size(); ++i) body(state.slots[i], saved.slots[i], 4.0);
}

/// A part of the state that has moved: elements, one after another.
struct moved_part {
  float* saved;
  const float* now;
  double distance;  ///< squared
  std::uint32_t elements;
  float bytes;  ///< with the index
};

/// A running checkpoint, of which each save replaces the parts that have moved farthest.
class running_checkpoint : public checkpoint_writer {
 public:
  running_checkpoint(training& run, part what, bool by_rows) : what_(what), by_rows_(by_rows), saved_(run.copy()) {
    if (what_ == part::weights) saved_.slots.clear();
  }

  double save(training& run, double budget) override {
    auto now = run.copy();
    saved_.iteration = now.iteration;
    find_moved(now, run.bytes_per_weight());
    double bytes = 0;
    for (const auto& p : farthest(budget)) {
      if (bytes + p.bytes > budget) break;
      std::copy_n(p.now, p.elements, p.saved);
      bytes += p.bytes;
    }
    return bytes;
  }

  void restore(training& run) override { run.go_to(saved_); }

 private:
  void find_moved(snapshot& now, double bytes_per_weight) {
    moved_.clear();
    least_bytes_ = std::numeric_limits<float>::infinity();
    const auto add_parts = [&](const models::matrix& from, models::matrix& to, double bytes_per_element) {
      const auto size = static_cast<std::size_t>(from.size());
      const std::size_t step = by_rows_ ? static_cast<std::size_t>(from.cols()) : 1;
      for (std::size_t i = 0; i < size; i += step) {
        double distance = 0;
        for (std::size_t j = i; j < i + step; ++j) {
          const double d = static_cast<double>(from.data()[j]) - static_cast<double>(to.data()[j]);
          distance += d * d;
        }
        if (distance == 0) continue;
        const auto bytes = static_cast<float>(4 + bytes_per_element * static_cast<double>(step));
        least_bytes_ = std::min(least_bytes_, bytes);
        moved_.push_back({to.data() + i, from.data() + i, distance, static_cast<std::uint32_t>(step), bytes});
      }
    };
    for_each_saved(what_, bytes_per_weight, now, saved_, add_parts);
  }

  /// The parts that have moved farthest, the farthest first: at least as many as `budget` bytes have room for, if there
  /// are.
  std::span<const moved_part> farthest(double budget) {
    const auto is_farther = [](const moved_part& a, const moved_part& b) { return a.distance > b.distance; };
    const double most = budget / static_cast<double>(least_bytes_);
    if (most < static_cast<double>(moved_.size())) {
      const auto end = moved_.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(moved_.begin(), end, moved_.end(), is_farther);
      moved_.erase(end, moved_.end());
    }
    std::sort(moved_.begin(), moved_.end(), is_farther);
    return moved_;
  }

  part what_;
  bool by_rows_;
  snapshot saved_;
  std::vector<moved_part> moved_;  ///< since the checkpoint; keeps its memory for the next one
  float least_bytes_ = 0;          ///< of one of them
};

class full_writer final : public checkpoint_writer {
 public:
  full_writer(training& run, part what) : what_(what) { save(run, 0); }

  double save(training& run, double /*budget*/) override {
    saved_ = run.copy();
    if (what_ == part::weights) saved_.slots.clear();
    return run.bytes_per_weight() * static_cast<double>(models::elements_of(saved_.weights)) +
           4 * static_cast<double>(models::elements_of(saved_.slots));
  }

  void restore(training& run) override { run.go_to(saved_); }

 private:
  part what_;
  snapshot saved_;
};

}  // namespace

std::unique_ptr<checkpoint_writer> write_by_cairn(training& run, part what, codec_setting how) {
  return std::make_unique<cairn_writer>(run, what, std::move(how));
}

std::unique_ptr<checkpoint_writer> write_by_scar(training& run, part what) {
  return std::make_unique<running_checkpoint>(run, what, true);
}

std::unique_ptr<checkpoint_writer> write_by_topn(training& run, part what) {
  return std::make_unique<running_checkpoint>(run, what, false);
}

std::unique_ptr<checkpoint_writer> write_full(training& run, part what) {
  return std::make_unique<full_writer>(run, what);
}

}  // namespace bench::rework
