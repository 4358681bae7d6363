// SPDX-License-Identifier: MIT
// Chains of deltas that several ranks save, through the checkpointer.
#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/load.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"

#include "catch.hpp"
#include "chain.hpp"
#include "copying_codec.hpp"
#include "ranks.hpp"

using cairn::detail::checkpoint_name;

namespace {

using matrix = cairn::tensor_view<float>;

chain::state state_at(std::uint64_t step) {
  std::mt19937 random(11);
  auto state = chain::start(random, 4000);
  while (state.step < step) chain::train(state, random);
  return state;
}

cairn::checkpointer_options exact() {
  auto options = quick();
  options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  options.chain = {.anchor_every = 4};
  options.when = cairn::policies::every_steps{1};
  options.on_busy = cairn::when_busy::wait;
  return options;
}

TEST_CASE("ranks save deltas, and any number of ranks goes on with the chain") {
  const cairn::any_store store = cairn::stores::memory();
  std::mt19937 random(5);
  std::uint64_t step = 0;
  std::atomic<int> deltas{0};
  for (int segment = 0; segment < 8; ++segment) {
    const auto ranks = static_cast<unsigned>(1 + random() % 5);
    const bool in_background = random() % 2 == 0;
    INFO("segment " << segment << ", " << ranks << " ranks, from step " << step);
    const auto thrown = at_each(ranks, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, exact(), group);
      chain::state state;
      const auto report = checkpoints.restore(state);
      require(bool(report) == (step > 0), "nothing is restored");
      if (step > 0) require(chain::bits_of(state) == chain::bits_of(state_at(step)), "another state is restored");
      for (auto now = step + 1; now <= step + 6; ++now) {
        const auto next = state_at(now);
        const auto saved = save_at(checkpoints, next, now, in_background);
        require(saved.is_delta == !saved.parent.empty(), "a delta without parent");
        if (group.rank() == ranks - 1 && saved.is_delta) ++deltas;
      }
    });
    CHECK(thrown == std::vector<std::string>(ranks));
    for (auto now = step + 1; now <= step + 6; ++now)
      CHECK(chain::restored(store, checkpoint_name(now)) == chain::bits_of(state_at(now)));
    step += 6;
  }
  CHECK(deltas > 24);  // three of four
}

TEST_CASE("what ranks keep of lossy codecs is what a reader restores: errors do not add up") {
  const cairn::any_store store = cairn::stores::memory();
  chain::state last = state_at(0);
  for (const unsigned ranks : {3U, 2U}) {
    std::map<std::string, cairn::loss> lost;
    const auto before = last;
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            auto options = exact();
            options.codecs = chain::mixed_rules();
            options.chain.anchor_every = std::nullopt;
            cairn::checkpointer checkpoints(store, options, group);
            auto state = before;
            checkpoints.restore(state);
            std::mt19937 random(12);
            cairn::save_report report;
            for (int i = 0; i < 5; ++i) {
              chain::train(state, random);
              report = checkpoints.save(state, {.step = state.step});
            }
            require(report.is_delta, "no delta");
            if (group.rank() != 0) return;
            lost = report.lost;
            last = state;
          }) == std::vector<std::string>(ranks));
    const auto found = chain::restored(store, store.list().back());
    for (const auto& leaf : cairn::detail::describe(last).leaves) {
      INFO(ranks << " ranks: " << leaf.path);
      if (leaf.type != cairn::dtype::f32 || !lost.contains(leaf.path)) continue;
      double largest = 0;
      for (std::uint64_t i = 0; i < leaf.count(); ++i) {
        float was = 0, is = 0;
        std::memcpy(&was, leaf.memory + 4 * i, 4);
        std::memcpy(&is, found.at(leaf.path).data() + 4 * i, 4);
        largest = std::max(largest, std::abs(static_cast<double>(was) - static_cast<double>(is)));
      }
      CHECK(largest > 0);
      CHECK(lost.at(leaf.path).max_error == largest);
    }
    CHECK(lost.contains("net.weight"));
    CHECK(found.at("adam.m") == chain::bits_of(last).at("adam.m"));
  }
  CHECK(store.list().size() == 10);
}

TEST_CASE("a rank that fails ends the delta of all, and the next one is built on what is published") {
  const cairn::any_store store = cairn::stores::memory();
  std::atomic<bool> writes{true};
  const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
    auto options = exact();
    options.chain.anchor_every = std::nullopt;
    cairn::checkpointer checkpoints(broken_store(store, group.rank() == 2 ? &writes : nullptr), options, group);
    for (std::uint64_t step = 1; step <= 9; ++step) {
      if (step % 3 == 0) {
        checkpoints.wait();
        writes = false;
        try {
          checkpoints.save(state_at(step), {.step = step});
          require(false, "nothing was thrown");
        } catch (const cairn::error& cause) {
          require(cause.code() == cairn::errc::io, cause.what());
        }
        checkpoints.wait();
        writes = true;
        checkpoints.wait();
      } else {
        require(checkpoints.save(state_at(step), {.step = step}).is_delta == (step > 1), "not a delta");
      }
    }
  });
  CHECK(thrown == std::vector<std::string>(3));
  for (const auto& name : store.list())
    CHECK(chain::restored(store, name) == chain::bits_of(state_at(*cairn::detail::parse_checkpoint_name(name))));
  CHECK(store.list().size() == 6);
}

TEST_CASE("a box that moves within a chain is not stored relative to another one") {
  const cairn::any_store store = cairn::stores::memory();
  const auto value = [](std::uint64_t step, std::size_t i) {
    return 0.03F + 1e-6F * static_cast<float>(i % 89 + step);
  };
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = exact();
          options.chain.anchor_every = std::nullopt;
          cairn::checkpointer checkpoints(store, options, group);
          std::vector<float> box(8000);
          for (std::uint64_t step = 1; step <= 5; ++step) {
            const std::size_t first = (group.rank() + step) % 2 * box.size();
            for (std::size_t i = 0; i < box.size(); ++i) box[i] = value(step, first + i);
            checkpoints.save(cairn::state{{"w", cairn::shard_of(box, {16'000}, {first})}}, {.step = step});
          }
        }) == std::vector<std::string>(2));
  for (std::uint64_t step = 1; step <= 5; ++step) {
    std::vector<float> all;
    cairn::state whole{{"w", all}};
    cairn::load(store, checkpoint_name(step), whole);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) wrong += all[i] != value(step, i);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a save that failed leaves no rank with another plan") {
  const cairn::any_store store = cairn::stores::memory();
  const auto state_of = [](std::uint64_t step) {  // of two shapes by turns
    return std::map<std::string, std::vector<float>>{{"a", std::vector<float>(50'000, static_cast<float>(step))},
                                                     {"b", std::vector<float>(step % 4 == 3 ? 90'000 : 10'000, 1)}};
  };
  std::atomic<bool> writes{true};
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = exact();
          options.chain.anchor_every = std::nullopt;
          cairn::checkpointer checkpoints(broken_store(store, group.rank() == 1 ? &writes : nullptr), options, group);
          for (std::uint64_t step = 1; step <= 12; ++step) {
            checkpoints.wait();
            writes = step % 4 != 3;
            try {
              checkpoints.save(state_of(step), {.step = step});
            } catch (const cairn::error& cause) {
              require(cause.code() == cairn::errc::io, cause.what());
            }
          }
        }) == std::vector<std::string>(3));
  CHECK(store.list().size() == 9);
  for (const auto& name : store.list()) {
    std::map<std::string, std::vector<float>> restored;
    cairn::load(store, name, restored);
    CHECK(restored == state_of(*cairn::detail::parse_checkpoint_name(name)));
  }
}

TEST_CASE("what lossy codecs lose is in the index, and in the report of each rank") {
  for (const bool in_background : {false, true}) {
    const cairn::any_store store = cairn::stores::memory();
    std::vector<std::map<std::string, cairn::loss>> lost(3);
    CHECK(at_each(3, [&](const cairn::groups::threads& group) {
            auto options = exact();
            options.codecs = chain::mixed_rules();
            cairn::checkpointer checkpoints(store, options, group);
            for (std::uint64_t step = 1; step <= 2; ++step) {
              lost[group.rank()] = save_at(checkpoints, state_at(step), step, in_background).lost;
              require(lost[group.rank()].empty() == (step == 1), "a loss of a whole checkpoint, or none of a delta");
            }
          }) == std::vector<std::string>(3));
    CHECK(lost == std::vector(3, lost.front()));
    CHECK(lost.front().contains("net.weight"));
    const auto reader = cairn::detail::open_checkpoint(store, checkpoint_name(2));
    std::map<std::string, cairn::loss> stored;
    for (std::size_t leaf = 0; leaf < reader.contents.leaves.size(); ++leaf)
      if (const auto& how = reader.index.storage[leaf].encoded; how && how->lost)
        stored.emplace(reader.contents.leaves[leaf].path, *how->lost);
    CHECK(stored == lost.front());
  }
}

TEST_CASE("a rank without a share does not open the parent at each save") {
  const cairn::any_store store = cairn::stores::memory();
  std::atomic<int> opened{0};
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          auto options = exact();
          options.chain.anchor_every = std::nullopt;
          options.rank_weight = group.rank() == 0 ? 1 : 0;
          const hooked_store own{store, {.before_open = [&](std::string_view, std::string_view) {
                                   if (group.rank() == 1) ++opened;
                                 }}};
          for (const bool restores : {false, true}) {
            cairn::checkpointer checkpoints(own, options, group);
            chain::state state;
            if (restores) checkpoints.restore(state);
            for (std::uint64_t step = restores ? 6 : 1; step <= (restores ? 10 : 5); ++step) {
              const bool is_first = step == (restores ? 6 : 1);
              if (group.rank() == 1 && !is_first) opened = 0;
              require(checkpoints.save(state_at(step), {.step = step}).is_delta == (step != 1), "not a delta");
              require(group.rank() == 0 || is_first || opened == 0, "the parent was opened");
            }
          }
        }) == std::vector<std::string>(2));
  CHECK(chain::restored(store, checkpoint_name(10)) == chain::bits_of(state_at(10)));
}

/// A delta is the elements themselves. Counts the elements that are decoded.
struct counted_copies : tests::copying_codec {
  std::atomic<std::uint64_t>* decoded;

  void decode(const cairn::decode_request& from) const {
    if (decoded != nullptr) *decoded += from.values.size() / sizeof(float);
    copying_codec::decode(from);
  }
};

TEST_CASE("a rank that restores its box of a chain decodes the payloads of that box alone") {
  const cairn::any_store store = cairn::stores::memory();
  constexpr unsigned ranks = 4;
  constexpr std::uint64_t count = 5000, steps = 3;
  std::vector<std::atomic<std::uint64_t>> decoded(ranks);
  for (const bool restores : {false, true})
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            auto options = exact();
            options.chain.anchor_every = std::nullopt;
            options.codecs = {{"*", counted_copies{{}, restores ? &decoded[group.rank()] : nullptr}}};
            cairn::checkpointer checkpoints(store, options, group);
            std::vector<float> box(2 * count);
            matrix view(box.data(), {2, count});
            cairn::state all{{"w", cairn::shard_of(view, {2, ranks * count}, {0, group.rank() * count})}};
            const auto fill = [&](std::uint64_t step) {
              for (std::size_t i = 0; i < box.size(); ++i) box[i] = static_cast<float>(step * i + group.rank());
            };
            for (std::uint64_t step = 1; step <= steps && !restores; ++step) {
              fill(step);
              checkpoints.save(all, {.step = step});
            }
            if (!restores) return;
            require(checkpoints.restore(all).has_value(), "not restored");
            const auto restored = box;
            fill(steps);
            require(restored == box, "another box");
          }) == std::vector<std::string>(ranks));
  CHECK(
      cairn::detail::chain_reader(store, checkpoint_name(steps), {{"*", counted_copies{{}, nullptr}}}).links().size() ==
      steps);
  for (const auto& each : decoded) CHECK(each == steps * 2 * count);
}

TEST_CASE("runs that cut an array into other boxes go on with the chain, which is restored as any boxes") {
  const cairn::any_store store = cairn::stores::memory();
  const cairn::extents whole{60, 90};
  const auto value = [](std::uint64_t step, std::uint64_t i) {
    return 0.03F + 1e-6F * static_cast<float>(i % 89 + step);
  };
  // The part of a rank along a dimension.
  const auto part_of = [&](std::size_t d, unsigned rank, unsigned ranks) {
    cairn::detail::box part{{0, 0}, whole};
    part.first[d] = whole[d] * rank / ranks;
    part.shape[d] = whole[d] * (rank + 1) / ranks - part.first[d];
    return part;
  };
  const auto values_of = [&](const cairn::detail::box& part, std::uint64_t step) {
    std::vector<float> values;
    for (auto i = part.first[0]; i < part.first[0] + part.shape[0]; ++i)
      for (auto j = part.first[1]; j < part.first[1] + part.shape[1]; ++j)
        values.push_back(value(step, i * whole[1] + j));
    return values;
  };
  std::uint64_t step = 0;
  for (const unsigned ranks : {3U, 2U, 4U, 1U, 4U}) {
    CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
            auto options = exact();
            options.chain.anchor_every = std::nullopt;
            cairn::checkpointer checkpoints(store, options, group);
            const auto part = part_of(ranks % 2, group.rank(), ranks);
            auto values = values_of(part, step);
            matrix view(values.data(), part.shape);
            cairn::state all{{"w", cairn::shard_of(view, whole, part.first)}};
            if (step > 0) {
              values.assign(values.size(), 0);
              require(checkpoints.restore(all).has_value() && values == values_of(part, step), "another box");
            }
            for (std::uint64_t more = 1; more <= 2; ++more) {
              std::ranges::copy(values_of(part, step + more), values.begin());
              checkpoints.save(all, {.step = step + more});
            }
          }) == std::vector<std::string>(ranks));
    step += 2;
  }
  CHECK(cairn::detail::chain_reader(store, checkpoint_name(step)).links().size() ==
        2);  // each run begins with whole boxes
  for (unsigned ranks = 1; ranks <= 4; ++ranks)
    for (std::uint64_t saved = 1; saved <= step; ++saved)
      CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
              cairn::checkpointer checkpoints(store, quick(), group);
              const auto part = part_of((ranks + saved) % 2, group.rank(), ranks);
              std::vector<float> values(part.count());
              matrix view(values.data(), part.shape);
              cairn::state all{{"w", cairn::shard_of(view, whole, part.first)}};
              require(checkpoints.restore(all, {.step = saved}).has_value(), "not restored");
              require(values == values_of(part, saved), "another box");
            }) == std::vector<std::string>(ranks));
}

}  // namespace
