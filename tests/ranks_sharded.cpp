// SPDX-License-Identifier: MIT
// Arrays of which each rank of a group holds a box, through the checkpointer.
#include "cairn/state/sharded.hpp"

#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "ranks.hpp"

namespace {

/// A packed tensor of any number of dimensions.
struct tensor {
  cairn::extents dimensions;
  std::vector<float> values;

  explicit tensor(cairn::extents shape) : dimensions(std::move(shape)), values(size_of(dimensions)) {}

  static std::size_t size_of(const cairn::extents& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }
};

}  // namespace

template <>
struct cairn::adapter<tensor> {
  static tensor_view<float> view(tensor& object) { return {object.values.data(), object.dimensions}; }
};

namespace {

/// The part of rank `rank` along dimension `d`, of about the same size for all.
struct part {
  cairn::extents first, shape;

  part(const cairn::extents& whole, std::size_t d, unsigned rank, unsigned ranks) : first(whole.size()), shape(whole) {
    first[d] = whole[d] * rank / ranks;
    shape[d] = whole[d] * (rank + 1) / ranks - first[d];
  }
};

/// Each element has a value that tells its index in the whole array, and the step.
void fill(tensor& box, const cairn::extents& whole, const cairn::extents& first, std::uint64_t step) {
  for (std::size_t i = 0; i < box.values.size(); ++i) {
    std::uint64_t number = 0, rest = i;
    cairn::extents index(whole.size());
    for (std::size_t d = whole.size(); d-- > 0;) {
      index[d] = first[d] + rest % box.dimensions[d];
      rest /= box.dimensions[d];
    }
    for (std::size_t d = 0; d < whole.size(); ++d) number = number * whole[d] + index[d];
    box.values[i] = static_cast<float>(number * 2 + step);
  }
}

tensor filled(const cairn::extents& whole, const part& at, std::uint64_t step) {
  tensor made(at.shape);
  fill(made, whole, at.first, step);
  return made;
}

TEST_CASE("boxes of N ranks are loaded as other boxes by M ranks, along each dimension") {
  const cairn::extents whole{7, 6, 8}, long_one{1003};
  for (const bool is_raw : {true, false})
    for (unsigned saved = 1; saved <= 6; ++saved)
      for (std::size_t d = 0; d < whole.size(); ++d) {
        const cairn::any_store store = cairn::stores::memory();
        CHECK(at_each(saved, [&](const cairn::groups::threads& group) {
                const auto rank = group.rank();
                auto options = quick();
                if (is_raw) options.codecs = {{"*", cairn::codecs::raw()}};
                options.when = cairn::policies::every_steps{2};
                const part at(whole, d, rank, saved), of_long(long_one, 0, rank, saved);
                auto box = filled(whole, at, 2), line = filled(long_one, of_long, 2);
                std::vector<double> common(301, 0.5);
                cairn::checkpointer checkpoints(store, options, group);
                const cairn::state all{{"w", cairn::shard_of(box, whole, at.first)},
                                       {"line", cairn::shard_of(line.values, long_one, of_long.first)},
                                       {"common", common}};
                static_cast<void>(checkpoints.step(all, {.step = 2}));
                checkpoints.wait();
                fill(box, whole, at.first, 3);
                fill(line, long_one, of_long.first, 3);
                checkpoints.save(all, {.step = 3});
              }) == std::vector<std::string>(saved));
        for (const std::uint64_t step : {2U, 3U})
          for (unsigned loaded = 1; loaded <= 6; ++loaded) {
            INFO("raw " << is_raw << ", " << saved << " -> " << loaded << ", step " << step << ", dimension " << d);
            const auto other = (d + loaded) % whole.size();
            CHECK(at_each(loaded, [&](const cairn::groups::threads& group) {
                    const auto rank = group.rank();
                    const part at(whole, other, rank, loaded), of_long(long_one, 0, rank, loaded);
                    tensor box(at.shape), line(of_long.shape);
                    std::vector<double> common;
                    cairn::checkpointer checkpoints(store, quick(), group);
                    cairn::state all{{"w", cairn::shard_of(box, whole, at.first)},
                                     {"line", cairn::shard_of(line.values, long_one, of_long.first)},
                                     {"common", common}};
                    const auto how = step % 2 == 0 ? cairn::read_sharing::always : cairn::read_sharing::measured;
                    require(checkpoints.restore(all, {.step = step, .sharing = how}).has_value(),
                            "nothing is restored");
                    require(box.values == filled(whole, at, step).values, "another box");
                    require(line.values == filled(long_one, of_long, step).values, "another range");
                    require(common == std::vector<double>(301, 0.5), "another common array");
                  }) == std::vector<std::string>(loaded));
          }
        // One process that knows nothing of boxes reads whole arrays.
        std::map<std::string, std::vector<float>> line;
        const cairn::load_options part_of{.strict = false};
        tensor all(whole);
        cairn::state alone{{"w", all}};
        cairn::load(store, "step-000000003", alone, part_of);
        CHECK(all.values == filled(whole, part(whole, 0, 0, 1), 3).values);
      }
}

TEST_CASE("random boxes are loaded as random boxes") {
  std::mt19937_64 random(14);
  for (int round = 0; round < 40; ++round) {
    // A random binary partition into boxes.
    const cairn::extents whole{1 + random() % 9, 1 + random() % 9, 1 + random() % 9};
    const auto make = [&](unsigned count) {
      std::vector<part> parts{part(whole, 0, 0, 1)};
      while (parts.size() < count) {
        const auto which = random() % parts.size();
        const auto d = random() % whole.size();
        auto second = parts[which];
        const auto cut = random() % (second.shape[d] + 1);  // may leave an empty part
        parts[which].shape[d] = cut;
        second.first[d] += cut;
        second.shape[d] -= cut;
        parts.push_back(second);
      }
      return parts;
    };
    const auto saved = static_cast<unsigned>(1 + random() % 6), loaded = static_cast<unsigned>(1 + random() % 6);
    const auto from = make(saved), to = make(loaded);
    const bool is_raw = random() % 2 == 0;
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(saved, [&](const cairn::groups::threads& group) {
            auto options = quick();
            if (is_raw) options.codecs = {{"*", cairn::codecs::raw()}};
            const auto& at = from[group.rank()];
            auto box = filled(whole, at, 1);
            cairn::checkpointer checkpoints(store, options, group);
            checkpoints.save(cairn::state{{"w", cairn::shard_of(box, whole, at.first)}}, {.step = 1});
          }) == std::vector<std::string>(saved));
    CHECK(at_each(loaded, [&](const cairn::groups::threads& group) {
            const auto& at = to[group.rank()];
            tensor box(at.shape);
            cairn::checkpointer checkpoints(store, quick(), group);
            cairn::state all{{"w", cairn::shard_of(box, whole, at.first)}};
            require(checkpoints.restore(all).has_value(), "nothing is restored");
            require(box.values == filled(whole, at, 1).values, "another box");
          }) == std::vector<std::string>(loaded));
  }
}

TEST_CASE("several ranks that hold the same box write a part of it each") {
  const cairn::extents whole{8, 1000};
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(4, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.codecs = {{"*", cairn::codecs::raw()}};
          const auto rank = group.rank();
          const part at(whole, 0, rank / 2, 2);
          auto box = filled(whole, at, 1);
          cairn::checkpointer checkpoints(store, options, group);
          checkpoints.save(cairn::state{{"w", cairn::shard_of(box, whole, at.first, {.count = 2, .number = rank % 2})}},
                           {.step = 1});
        }) == std::vector<std::string>(4));
  for (const auto& file : store.open("step-000000001")->files())
    if (file != "index.json") CHECK(store.open("step-000000001")->open(file)->size() / 1000 == 12);
  tensor all(whole);
  cairn::state alone{{"w", all}};
  cairn::load(store, "step-000000001", alone);
  CHECK(all.values == filled(whole, part(whole, 0, 0, 1), 1).values);
}

TEST_CASE("boxes that overlap or leave a gap are refused at all ranks, and nothing is saved") {
  const cairn::extents whole{6, 4};
  const cairn::any_store store = cairn::stores::memory();
  const auto save = [&](const cairn::extents& first_of_last, const cairn::extents& shape_of_last) {
    return common(at_each(3, [&](const cairn::groups::threads& group) {
      part at(whole, 0, group.rank(), 3);
      if (group.rank() == 2) {
        at.first = first_of_last;
        at.shape = shape_of_last;
      }
      tensor box(at.shape);
      cairn::checkpointer checkpoints(store, quick(), group);
      checkpoints.save(cairn::state{{"w", cairn::shard_of(box, whole, at.first)}}, {.step = 1});
    }));
  };
  CHECK_THAT(save({3, 0}, {2, 4}), ContainsSubstring("\"w\"") && ContainsSubstring("overlap or leave a hole"));
  CHECK_THAT(save({4, 0}, {2, 3}), ContainsSubstring("\"w\"") && ContainsSubstring("overlap or leave a hole"));
  CHECK_THAT(save({5, 0}, {2, 4}),
             ContainsSubstring("w: a box of shape [2, 4] at [5, 0] is not inside of an array of shape [6, 4]"));
  CHECK(save({4, 0}, {2, 4}).empty());  // the boxes that cover it
  CHECK(store.list() == std::vector<std::string>{"step-000000001"});
  const auto gap = common(at_each(2, [&](const cairn::groups::threads& group) {
    std::vector<float> values(5);
    cairn::checkpointer checkpoints(store, quick(), group);
    checkpoints.save(cairn::state{{"v", cairn::shard_of(values, {11}, {6 * group.rank()})}}, {.step = 2});
  }));
  CHECK_THAT(gap, ContainsSubstring("\"v\""));
  std::vector<float> values(5);
  CHECK_THROWS_WITH(cairn::save(store, "alone", cairn::state{{"v", cairn::shard_of(values, {11}, {6})}}),
                    ContainsSubstring("\"v\""));
}

TEST_CASE("boxes of an array without elements, and copies of a single element") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          tensor none({0, 4});
          tensor one(cairn::extents{});
          one.values = {7};
          cairn::checkpointer checkpoints(store, quick(), group);
          cairn::state all{{"none", cairn::shard_of(none, {0, 8}, {0, 4 * group.rank()})},
                           {"one", cairn::shard_of(one, {}, {}, {.count = 2, .number = group.rank()})}};
          checkpoints.save(all, {.step = 1});
          one.values = {0};
          require(checkpoints.restore(all).has_value() && one.values.front() == 7, "not restored");
        }) == std::vector<std::string>(2));
}

TEST_CASE("a box is not loaded from an array of another shape or type") {
  const cairn::any_store store = cairn::stores::memory();
  std::vector<float> values(10);
  std::vector<double> others(5);
  cairn::save(store, "c", cairn::const_state{{"v", values}});
  cairn::state wrong_shape{{"v", cairn::shard_of(values, {20}, {10})}};
  CHECK_THROWS_WITH(cairn::load(store, "c", wrong_shape),
                    ContainsSubstring("v is F32[10] in the checkpoint and a box of F32[20] in the state"));
  cairn::state wrong_type{{"v", cairn::shard_of(others, {10}, {5})}};
  CHECK_THROWS_WITH(cairn::load(store, "c", wrong_type, {.convert = cairn::conversion::any}),
                    ContainsSubstring("a box of F64[10]"));
}

TEST_CASE("complex numbers, bools and empty arrays in boxes") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          const auto rank = group.rank();
          const float real = static_cast<float>(rank);
          std::vector<std::complex<float>> numbers(4, {real, -real});
          std::vector<float> none;
          std::array<bool, 2> flags{rank == 0, rank == 2};
          cairn::checkpointer checkpoints(store, quick(), group);
          cairn::state all{{"numbers", cairn::shard_of(numbers, {12}, {4 * rank})},
                           {"none", cairn::shard_of(none, {0}, {0})},
                           {"flags", cairn::shard_of(flags, {6}, {2 * rank})}};
          checkpoints.save(all, {.step = 1});
          numbers.assign(4, {});
          flags = {};
          require(checkpoints.restore(all).has_value(), "nothing is restored");
          require(numbers == std::vector<std::complex<float>>(4, {real, -real}), "other numbers");
          require(flags == std::array<bool, 2>{rank == 0, rank == 2}, "other flags");
        }) == std::vector<std::string>(3));
  std::vector<std::complex<float>> numbers;
  std::vector<bool> flags;
  std::vector<float> none(3);
  cairn::state alone{{"numbers", numbers}, {"none", none}};
  cairn::load(store, "step-000000001", alone,
              {.strict = false, .reshape = [](std::string_view) { return cairn::reshaping::resize; }});
  CHECK(numbers.size() == 12);
  CHECK(numbers[4] == std::complex<float>(1, -1));
  CHECK(none.empty());
}

/// A layer of which each rank has some rows, in a struct.
struct layer {
  tensor weights{{2, 3}};
  unsigned rank = 0, ranks = 1;
  std::vector<float> bias = std::vector<float>(3);
};

}  // namespace

template <>
struct cairn::adapter<layer> {
  template <class Field>
  static void fields(layer& object, const Field& field) {
    field("weights", shard_of(object.weights, {2 * object.ranks, 3}, {2 * object.rank, 0}));
    field("bias", object.bias);
  }
};

namespace {

TEST_CASE("a class passes boxes by its adapter") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          std::map<std::string, layer> model;
          auto& dense = model["dense"];
          dense.rank = group.rank();
          dense.ranks = 3;
          dense.weights.values.assign(6, static_cast<float>(group.rank()));
          cairn::checkpointer checkpoints(store, quick(), group);
          checkpoints.save(model, {.step = 1});
          dense.weights.values.assign(6, -1);
          require(checkpoints.restore(model).has_value(), "nothing is restored");
          require(dense.weights.values == std::vector<float>(6, static_cast<float>(group.rank())), "another box");
        }) == std::vector<std::string>(3));
}

}  // namespace
