// SPDX-License-Identifier: MIT
// Saves of N ranks and restores of M, threads of one process, through a store that counts.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/group/threads.hpp"
#include "cairn/store/memory.hpp"
#include "common/counting_store.hpp"
#include "mpi_save/loads.hpp"
#include "mpi_save/needed.hpp"
#include "mpi_save/share.hpp"

namespace bench {
namespace {

constexpr unsigned most_ranks = 6;
constexpr std::size_t replicated = 2;  // in place of the dimension along which the ranks have boxes

struct kind {
  const char *name, *text;
  std::size_t saved, loaded;  ///< dimension of the boxes, or `replicated`
  bool is_encoded;
};

constexpr kind kinds[] = {
    {"replicated.raw", "the same state", replicated, replicated, false},
    {"replicated.lossless", "the same state, encoded", replicated, replicated, true},
    {"rows_to_columns.raw", "rows, loaded as columns", 0, 1, false},
    {"rows_to_columns.lossless", "rows, loaded as columns, encoded", 0, 1, true},
    {"columns_to_rows.raw", "columns, loaded as rows", 1, 0, false},
    {"columns_to_rows.lossless", "columns, loaded as rows, encoded", 1, 0, true},
    {"rows_to_rows.raw", "rows, loaded as rows", 0, 0, false},
    {"rows_to_rows.lossless", "rows, loaded as rows, encoded", 0, 0, true},
};

void at_each(unsigned count, const std::function<void(cairn::groups::threads)>& act) {
  auto ranks = cairn::groups::threads::make(count);
  std::vector<std::exception_ptr> failures(count);
  std::vector<std::thread> threads;
  for (unsigned rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank, own = ranks[rank]]() mutable {
      try {
        act(std::move(own));
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  ranks.clear();
  for (auto& each : threads) each.join();
  for (const auto& each : failures)
    if (each) std::rethrow_exception(each);
}

/// Calls `act(state)` with the copy of a rank, or its boxes along dimension `d`, without values.
template <class Act>
void with_state(const dimensions& shapes, std::size_t d, unsigned rank, unsigned ranks, const Act& act) {
  if (d == replicated) {
    auto state = make_state(shapes);
    act(state);
  } else {
    auto state = sharded_state::make(shapes, d, rank, ranks);
    act(state);
  }
}

bool has_values(const training_state& state, const dimensions& shapes) { return is_intact(state, shapes); }
bool has_values(sharded_state& state, const dimensions& /*shapes*/) { return state.is_intact(); }

void give_values(training_state& state) { fill(state); }
void give_values(sharded_state& state) { state.fill(); }

cairn::any_store saved_by(unsigned ranks, const kind& what, const dimensions& shapes) {
  cairn::any_store store = cairn::stores::memory();
  at_each(ranks, [&](const cairn::groups::threads& group) {
    cairn::checkpointer_options options;
    options.threads = 1;
    if (what.is_encoded) options.codecs = {{"*", cairn::codecs::lossless{}}};
    cairn::checkpointer checkpoints(store, options, group);
    with_state(shapes, what.saved, group.rank(), ranks, [&](auto& state) {
      give_values(state);
      checkpoints.save(state, {.step = 1});
    });
  });
  return store;
}

/// What all ranks of a restore have read, and what they needed.
struct reads {
  std::uint64_t read = 0;
  needed_bytes needed{};

  [[nodiscard]] double over_blocks() const { return static_cast<double>(read) / static_cast<double>(needed.blocks); }
  [[nodiscard]] double over_elements() const {
    return static_cast<double>(read) / static_cast<double>(needed.elements);
  }
};

reads restored_by(unsigned ranks, const cairn::any_store& store, const kind& what, const dimensions& shapes) {
  const counting_store counted{store};
  at_each(ranks, [&](const cairn::groups::threads& group) {
    cairn::checkpointer checkpoints(cairn::any_store(counted), {}, group);
    with_state(shapes, what.loaded, group.rank(), ranks, [&](auto& state) {
      if (!checkpoints.restore(state, {.threads = 1}) || !has_values(state, shapes))
        throw std::runtime_error("a restore gave other values");
    });
  });
  reads all{.read = counted.take_bytes()};
  for (unsigned rank = 0; rank < ranks; ++rank) {
    std::map<std::string, cairn::detail::box, std::less<>> boxes;
    if (what.loaded != replicated)
      for (auto& each : sharded_state::make(shapes, what.loaded, rank, ranks).tensors)
        boxes.emplace(each.path, cairn::detail::box{each.first, each.shape});
    const auto needed = count_needed(store, "step-000000001", [&](std::string_view path) {
      const auto at = boxes.find(path);
      return at == boxes.end() ? std::optional<cairn::detail::box>() : at->second;
    });
    all.needed.elements += needed.elements;
    all.needed.blocks += needed.blocks;
  }
  return all;
}

/// The largest ratio, and the numbers of ranks that have it.
struct worst {
  double ratio = 0;
  unsigned saved = 0, loaded = 0;

  void add(double other, unsigned by, unsigned for_ranks) {
    if (other > ratio) *this = {other, by, for_ranks};
  }
  [[nodiscard]] std::string text() const {
    return text_of(ratio, 3) + " (" + std::to_string(saved) + " -> " + std::to_string(loaded) + ")";
  }
};

double count_all(const dimensions& shapes, report& numbers) {
  std::printf(
      "Bytes that all ranks read over those that they need, saved by N and restored by M ranks, N and M from 1 to %u; "
      "the largest ratio\n\n",
      most_ranks);
  table rows({"state", "over blocks (N -> M)", "over elements (N -> M)"});
  double largest = 0;
  for (const auto& what : kinds) {
    worst blocks, elements;
    for (unsigned saved = 1; saved <= most_ranks; ++saved) {
      const auto store = saved_by(saved, what, shapes);
      for (unsigned loaded = 1; loaded <= most_ranks; ++loaded) {
        const auto found = restored_by(loaded, store, what, shapes);
        blocks.add(found.over_blocks(), saved, loaded);
        elements.add(found.over_elements(), saved, loaded);
      }
    }
    rows.row({what.text, blocks.text(), elements.text()});
    numbers.number(std::string("mpi_load.bytes_read_over_needed.") + what.name, blocks.ratio);
    numbers.number(std::string("mpi_load.bytes_read_over_elements.") + what.name, elements.ratio);
    largest = std::max(largest, blocks.ratio);
  }
  rows.print();
  return largest;
}

}  // namespace

void count_reads(const world& all, const dimensions& shapes, report& numbers) {
  double largest = std::numeric_limits<double>::quiet_NaN();
  if (all.is_first()) largest = count_all(shapes, numbers);
  all.meet();
  numbers.at_most("mpi_load.bytes_read_over_needed", largest, 1.05);
}

}  // namespace bench
