// SPDX-License-Identifier: MIT
#include "simulate/predict.hpp"

#include "catch.hpp"

namespace {

using namespace bench;
using namespace cairn::plan;

/// Nothing takes time.
machine ideal() {
  machine on;
  on.encode = on.decode = {};
  on.copy = on.rank_link = on.node_link = on.write = on.read = on.files_per_second = 1e300;
  on.file = on.message = on.per_leaf = on.per_rank = 0;
  return on;
}

/// A leaf of bytes, which can be cut anywhere.
leaf_size bytes(std::uint64_t count) { return {count, count, 1}; }

partition plan_of(std::vector<leaf_size> leaves, std::size_t ranks) {
  return {std::move(leaves), std::vector<rank_load>(ranks)};
}

/// Ranks that write 3, 1, 2 and 2 million bytes.
partition uneven() { return {{bytes(8'000'000)}, {{3}, {1}, {2}, {2}}}; }

/// Parameters of all sizes.
std::vector<leaf_size> random_state(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<leaf_size> leaves;
  for (auto left = 1 + random() % 200; left > 0; --left) {
    const auto row = 1 + random() % 1000, rows = 1 + random() % (std::uint64_t{1} << random() % 16);
    leaves.push_back({rows * row, 4 * rows * row, row});
  }
  return leaves;
}

std::uint64_t sum_of(const std::vector<leaf_size>& leaves) {
  std::uint64_t sum = 0;
  for (const auto& leaf : leaves) sum += leaf.bytes;
  return sum;
}

constexpr double machine::* rates[] = {&machine::copy,  &machine::rank_link, &machine::node_link,
                                       &machine::write, &machine::read,      &machine::files_per_second};
constexpr double machine::* costs[] = {&machine::file, &machine::message, &machine::per_leaf, &machine::per_rank};

/// Saves of different sizes and numbers of tensors that take what `cost` says, up to a relative error.
std::vector<measured_write> saves_of(const write_cost& cost, double error = 0) {
  std::mt19937_64 random(1);
  std::vector<measured_write> samples;
  for (std::uint64_t bytes = 1'000'000; bytes <= 4'000'000'000; bytes *= 4)
    for (const std::uint64_t tensors : {10U, 400U, 10'000U}) {
      const double off = static_cast<double>(random() % 2001) / 1000 - 1;
      samples.push_back({bytes, tensors, cost.seconds(bytes, tensors) * (1 + error * off)});
    }
  return samples;
}

}  // namespace

TEST_CASE("one rank takes its bytes over each rate, and the costs") {
  auto on = ideal();
  on.copy = 4e6;
  on.encode = {0.5, 1e-6, 0.25};
  on.decode = {0.25, 5e-7, 0.125};
  on.ratio = 0.5;
  on.rank_link = 2e6;
  on.files_per_second = 100;
  on.read = 1e6;
  on.file = 0.125;
  on.message = 1000;  // there is nobody to send to
  on.per_leaf = 0.0625;
  on.per_rank = 0.03125;
  const auto of = simulate(plan_of({bytes(3'000'000), bytes(1'000'000)}, 1), on);
  CHECK(of.largest_share == 4'000'000);
  CHECK(of.copy == Approx(1));
  CHECK(of.encode == Approx(0.5 + 4 + 2 * 0.25));
  CHECK(of.create == Approx(0.125 + 0.01));
  CHECK(of.write == Approx(1));
  CHECK(of.gather == Approx(0.03125));
  CHECK(of.publish == Approx(0.125 + 2 * 0.0625));
  CHECK(of.save() == Approx(1 + 5 + 0.135 + 1 + 0.03125 + 0.25));
  const double index = 0.125 + 2 * 0.0625 + 0.03125;
  CHECK(of.read == Approx(index + 0.135 + 2 + 0.25 + 2 + 2 * 0.125));
  CHECK(of.read_shared == Approx(of.read));
  CHECK(of.load() == of.read);
}

TEST_CASE("the slowest rank and the slowest node count") {
  auto on = ideal();
  on.ranks_per_node = 2;  // of 4 million bytes each
  on.cores_per_node = 2;
  on.copy = on.rank_link = 1e6;
  on.encode = {1, 1e-6, 0};
  auto of = simulate(uneven(), on);
  CHECK(of.copy == Approx(3));
  CHECK(of.encode == Approx(4));
  CHECK(of.write == Approx(3));

  on.cores_per_node = 1;
  on.node_link = 1e6;
  of = simulate(uneven(), on);
  CHECK(of.copy == Approx(4));
  CHECK(of.encode == Approx(2 + 4));
  CHECK(of.write == Approx(4));

  on.ranks_per_node = 3;  // 6 million bytes, and 2 in the last node
  of = simulate(uneven(), on);
  CHECK(of.copy == Approx(6));
  CHECK(of.encode == Approx(3 + 6));
  CHECK(of.write == Approx(6));

  on.write = 1e6;
  CHECK(simulate(uneven(), on).write == Approx(8));
  on.ratio = 0.25;
  CHECK(simulate(uneven(), on).write == Approx(2));
}

TEST_CASE("files, records and the index take time by ranks and leaves") {
  auto on = ideal();
  on.file = 1;
  on.files_per_second = 2;
  on.message = 10;
  on.per_rank = 100;
  on.per_leaf = 1000;
  const auto at = [&](std::size_t ranks) { return simulate(plan_of({bytes(1'000'000), bytes(0)}, ranks), on); };
  CHECK(at(5).create == Approx(1 + 2.5));
  CHECK(at(5).gather == Approx(3 * 10 + 5 * 100));
  CHECK(at(4).gather == Approx(2 * 10 + 4 * 100));
  CHECK(at(5).publish == Approx(1 + 2 * 1000));
  const double index = 1 + 3 * 10 + 5 * 100 + 2 * 1000;
  CHECK(at(5).read == Approx(index + 5 * (1 + 2.5)));
  CHECK(at(5).read_shared == Approx(index + 3.5 + 5 * 3 * 10));
}

TEST_CASE("a load reads everything at all ranks, or shares and broadcasts them") {
  auto on = ideal();
  on.ranks_per_node = 2;
  on.cores_per_node = 2;
  on.read = 1e6;
  on.decode = {0, 1e-6, 0};
  auto of = simulate(uneven(), on);
  CHECK(of.read == Approx(4 * 8 + 8));
  CHECK(of.read_shared == Approx(8 + 3));
  CHECK(of.load() == of.read_shared);

  on = ideal();
  on.ranks_per_node = 2;
  on.rank_link = 2e6;
  on.node_link = 1e6;
  on.copy = 8e6;
  of = simulate(uneven(), on);
  CHECK(of.read == Approx(2 * 8));
  CHECK(of.read_shared == Approx(4 + 8 + 1));
  on.rank_link = 1e5;
  of = simulate(uneven(), on);
  CHECK(of.read == Approx(80));
  CHECK(of.read_shared == Approx(30 + 8 + 1));
  // One node has no other to send to.
  on.ranks_per_node = 4;
  CHECK(simulate(uneven(), on).read_shared == Approx(30 + 1));
  // What costs more to share than to read is read.
  on = ideal();
  on.message = 1;
  of = simulate(uneven(), on);
  CHECK(of.read == Approx(2));
  CHECK(of.read_shared == Approx(2 + 2 * 4));
  CHECK(of.load() == of.read);
}

TEST_CASE("twice the ranks do not write more bytes each, and no save is faster than links and file system allow") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto leaves = random_state(seed);
    const auto all = sum_of(leaves);
    const machine on;
    auto before = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t ranks = 1; ranks <= 1024; ranks *= 2) {
      INFO("state " << seed << ", " << ranks << " ranks");
      const auto of = simulate(plan_of(std::vector<leaf_size>(leaves), ranks), on);
      REQUIRE(of.largest_share <= before);
      REQUIRE(of.largest_share >= all / ranks);
      before = of.largest_share;

      const auto total = static_cast<double>(all), share = total / static_cast<double>(ranks);
      const auto nodes = static_cast<double>((ranks + on.ranks_per_node - 1) / on.ranks_per_node);
      const double rounding = 1 - 1e-12;
      REQUIRE(of.write >= total / on.write * rounding);
      REQUIRE(of.write >= total / (nodes * on.node_link) * rounding);
      REQUIRE(of.write >= share / on.rank_link * rounding);
      REQUIRE(of.copy >= share / on.copy * rounding);
      REQUIRE(of.create >= static_cast<double>(ranks) / on.files_per_second);
      REQUIRE(of.read_shared >= total / on.read * rounding);
      REQUIRE(of.read >= static_cast<double>(ranks) * total / on.read * rounding);
    }
  }
}

TEST_CASE("a faster machine is not slower, and a dearer one not faster") {
  std::mt19937_64 random(1);
  const auto factor = [&] { return 1 + static_cast<double>(random() % 1000) / 10; };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto plan = plan_of(random_state(seed), 1 + random() % 300);
    machine on;
    for (const auto rate : rates) on.*rate /= factor() * factor() * factor();
    on.ranks_per_node = 1 + random() % 16;
    on.cores_per_node = factor() / 4;
    const auto usual = simulate(plan, on);
    const auto compare = [&](bool is_faster, const auto& change) {
      auto other = on;
      change(other);
      const auto of = simulate(plan, other);
      const auto& slow = is_faster ? usual : of;
      const auto& fast = is_faster ? of : usual;
      REQUIRE(fast.save() <= slow.save());
      REQUIRE(fast.read <= slow.read);
      REQUIRE(fast.read_shared <= slow.read_shared);
    };
    for (const auto rate : rates) compare(true, [&](machine& other) { other.*rate *= factor(); });
    for (const auto cost : costs) compare(false, [&](machine& other) { other.*cost *= factor(); });
    compare(true, [&](machine& other) { other.cores_per_node *= 2; });
    compare(false, [&](machine& other) { other.ratio *= factor(); });
    compare(false, [&](machine& other) { other.encode.per_byte *= factor(); });
    compare(false, [&](machine& other) { other.decode.per_tensor *= factor(); });
  }
}

TEST_CASE("a state without bytes, and more ranks than bytes") {
  const auto none = simulate(plan_of({}, 4), machine{});
  CHECK(none.largest_share == 0);
  CHECK(none.write == 0);
  CHECK(none.save() > 0);
  const auto few = simulate(plan_of({bytes(10)}, 4), machine{});
  CHECK(few.largest_share >= 3);
  CHECK(few.largest_share <= 10);
}

TEST_CASE("a machine of nonsense is refused") {
  const auto refused = [](const machine& on, const std::string& text) {
    CHECK_THROWS_WITH(static_cast<void>(simulate(uneven(), on)), ContainsSubstring(text));
  };
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto changed = [](const auto& change) {
    machine on;
    change(on);
    return on;
  };
  refused(changed([](machine& on) { on.ranks_per_node = 0; }), "ranks_per_node of a machine is 0");
  for (const double value : {0.0, -1.0, infinity, nan}) {
    for (const auto rate : rates) refused(changed([&](machine& on) { on.*rate = value; }), "of a machine is");
    refused(changed([&](machine& on) { on.cores_per_node = value; }), "cores_per_node of a machine is");
    refused(changed([&](machine& on) { on.ratio = value; }), "ratio of a machine is");
    if (value == 0) continue;
    for (const auto cost : costs) refused(changed([&](machine& on) { on.*cost = value; }), "of a machine is");
    refused(changed([&](machine& on) { on.encode.base = value; }), "encode.base of a machine is");
    refused(changed([&](machine& on) { on.encode.per_byte = value; }), "encode.per_byte of a machine is");
    refused(changed([&](machine& on) { on.encode.per_tensor = value; }), "encode.per_tensor of a machine is");
    refused(changed([&](machine& on) { on.decode.base = value; }), "decode.base of a machine is");
    refused(changed([&](machine& on) { on.decode.per_byte = value; }), "decode.per_byte of a machine is");
    refused(changed([&](machine& on) { on.decode.per_tensor = value; }), "decode.per_tensor of a machine is");
  }
  refused(changed([](machine& on) { on.write = -5; }), "write of a machine is -5.0");
}

TEST_CASE("a calibration finds the cost that the samples have") {
  const write_cost cost{2e-3, 1e-9, 3e-6};
  const auto exact = calibrate(saves_of(cost));
  CHECK(exact.base == Approx(2e-3).epsilon(1e-6));
  CHECK(exact.per_byte == Approx(1e-9).epsilon(1e-6));
  CHECK(exact.per_tensor == Approx(3e-6).epsilon(1e-6));
  const auto slow = calibrate(saves_of({2e6, 1, 3e3}));
  CHECK(slow.base == Approx(2e6).epsilon(1e-6));
  CHECK(slow.per_byte == Approx(1).epsilon(1e-6));

  // Relative errors count: a save of a millisecond is predicted as well as one of seconds.
  const auto noisy = calibrate(saves_of(cost, 0.1));
  for (const auto& each : saves_of(cost))
    CHECK(noisy.seconds(each.bytes, each.tensors) == Approx(each.seconds).epsilon(0.08));
}

TEST_CASE("no part of a cost is negative") {
  const auto samples_of = [](double base, double per_tensor) {
    std::vector<measured_write> samples;
    for (const std::uint64_t tensors : {10U, 20U, 30U})
      for (const std::uint64_t mib : {100U, 200U, 300U})
        samples.push_back(
            {mib << 20U, tensors, base + static_cast<double>(mib) * 1e-3 + static_cast<double>(tensors) * per_tensor});
    return samples;
  };
  const auto fewer_tensors = calibrate(samples_of(0, -1e-4));
  CHECK(fewer_tensors.per_tensor == 0);
  CHECK(fewer_tensors.per_byte == Approx(1e-3 / (1 << 20)).epsilon(0.05));
  const auto no_base = calibrate(samples_of(-0.02, 0));
  CHECK(no_base.base == 0);
  CHECK(no_base.per_byte == Approx(1e-3 / (1 << 20)).epsilon(0.15));
}

TEST_CASE("what the samples cannot tell is 0") {
  const auto one = calibrate(std::vector<measured_write>{{1000, 10, 2}});
  CHECK(one.seconds(1000, 10) == Approx(2));
  const auto same_tensors = calibrate(std::vector<measured_write>{{1000, 10, 2}, {2000, 10, 3}});
  CHECK(same_tensors.seconds(3000, 10) == Approx(4));
  const auto no_tensors = calibrate(std::vector<measured_write>{{1000, 0, 2}, {2000, 0, 3}});
  CHECK(no_tensors.base == Approx(1));
  CHECK(no_tensors.per_tensor == 0);
}

TEST_CASE("a calibration without times is refused") {
  const auto refused = [](const std::vector<measured_write>& samples, const std::string& text) {
    CHECK_THROWS_WITH(static_cast<void>(calibrate(samples)), ContainsSubstring(text));
  };
  refused({}, "a calibration has no samples");
  for (const double seconds :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    refused({{1, 1, 1}, {1, 1, seconds}}, "a write of a calibration takes");
}
