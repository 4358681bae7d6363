// SPDX-License-Identifier: MIT
// Hostile columns of joined objects in a checkpoint whose checksums all hold: a load gives a state that can be saved,
// or throws cairn::error and changes nothing. All memory together is bounded. runs: 1/5

#include "cairn/load.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/store/memory.hpp"
#include "../store/sample.hpp"
#include "../write_checkpoint.hpp"
#include "choices.hpp"
#include "live_memory.hpp"
#include "../standard.hpp"

namespace {

/// For two objects of the state, all columns and the files: several times what the largest of them take.
constexpr std::size_t most_memory = std::size_t{4} << 20U;

void require(bool held) {
  if (!held) std::abort();
}

struct record {
  std::vector<std::uint16_t> list;
  std::string text;
  std::optional<std::string> maybe;
  std::vector<std::vector<std::uint8_t>> nested;
  std::set<std::int8_t> set;
  std::array<std::int32_t, 2> pair{};
  bool flag = false;
  friend bool operator==(const record&, const record&) = default;
};
struct state {
  std::vector<record> items;
  std::map<std::string, std::vector<std::uint16_t>> words;
  friend bool operator==(const state&, const state&) = default;
};

state make(std::size_t count) {
  state all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto small = static_cast<std::uint8_t>(i % 100);
    record each{std::vector<std::uint16_t>(i % 4, small), std::string(i % 3, 'x'), {}, {}, {}, {1, small}, i % 2 == 0};
    if (i % 5 == 0) each.maybe = std::string(i % 2, 'y');
    for (std::uint8_t n = 0; n < small % 3; ++n) {
      each.nested.emplace_back(n + i % 2, small);
      each.set.insert(static_cast<std::int8_t>(n));
    }
    all.items.push_back(std::move(each));
    all.words["word" + std::to_string(i)].assign(i % 3, small);
  }
  return all;
}

/// One change of a column, or of the number of objects. `memory` gets the elements.
void change(cairn::detail::description& what, std::deque<std::vector<std::byte>>& memory, fuzz::choices& from) {
  const auto any_number = [&] { return from.next(2) == 0 ? from.next(1000) : from.next(~std::uint64_t{0}); };
  if (from.next(12) == 0) {
    what.structure.at(from.next(2) == 0 ? "items" : "words").number = any_number();
    return;
  }
  const auto number = from.next(what.leaves.size());
  auto& leaf = what.leaves[number];
  auto& bytes = memory.emplace_back(sample::packed(leaf));
  switch (from.next(8)) {
    case 0:
      leaf.type = static_cast<cairn::dtype>(from.next(cairn::dtype_count));
      leaf.shape = {bytes.size() / size_of(leaf.type)};
      break;
    case 1:
      leaf.shape.front() = from.next(1000);
      break;
    case 2:
      leaf.shape.push_back(from.next(3));
      break;
    case 3:
      what.leaves.erase(what.leaves.begin() + static_cast<std::ptrdiff_t>(number));
      return;
    default:
      for (auto left = 1 + from.next(4); left > 0 && leaf.count() > 0; --left) {
        const auto at = from.next(leaf.count()), value = any_number();
        std::memcpy(bytes.data() + at * size_of(leaf.type), &value, size_of(leaf.type));
      }
  }
  bytes.resize(leaf.bytes());
  leaf.memory = bytes.data();
  leaf.strides.clear();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const state good = make(256), other = make(300);
  fuzz::choices chosen(bytes, size);
  cairn::load_options options{.strict = chosen.next(4) != 1, .threads = 1};
  if (chosen.next(4) == 1) options.convert = cairn::conversion::any;
  const bool resizes = chosen.next(4) != 1;
  if (resizes) options.reshape = [](std::string_view) { return cairn::reshaping::resize; };
  auto what = cairn::detail::describe(good);
  std::deque<std::vector<std::byte>> memory;
  const auto changes = chosen.next(5);
  for (auto left = changes; left > 0 && !what.leaves.empty(); --left) change(what, memory, chosen);
  cairn::any_store store = cairn::stores::memory();
  sample::checkpoint_spec spec;
  spec.leaves = what.leaves;
  spec.structure = what.structure;
  sample::write_checkpoint(store, "c", spec);
  for (const auto& before : {state{}, other}) {
    const fuzz::memory_bound guard(most_memory);
    state target = before;
    try {
      cairn::load(store, "c", target, options);
      require(changes > 0 || target == good);
      static_cast<void>(cairn::detail::describe(target));
    } catch (const cairn::error& failure) {
      require((changes > 0 || !resizes) && std::string_view(failure.what()).size() > 8);
      require(!failure.state_changed() && target == before);
    }
  }
  return 0;
}
