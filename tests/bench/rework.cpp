// SPDX-License-Identifier: MIT
// What bench/rework counts: iterations until a loss is reached, bytes, and statistics. Targets that are not reached
// give no figure.
#include "rework/experiment.hpp"

#include <unistd.h>

#include <catch.hpp>
#include <nlohmann/json.hpp>

#include "models/gpt.hpp"
#include "rework/compare.hpp"
#include "rework/methods.hpp"
#include "rework/probes.hpp"
#include "rework/writers.hpp"

namespace {

using namespace bench;
using namespace bench::rework;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A run whose losses are given; it diverges after the last.
class scripted_run : public models::training {
 public:
  explicit scripted_run(std::vector<double> losses) : losses_(std::move(losses)) {}

  void step() override {
    if (++iteration_ == losses_.size()) throw std::runtime_error("diverges");
  }
  [[nodiscard]] std::uint64_t iteration() const override { return iteration_; }
  [[nodiscard]] double loss() const override { return losses_[iteration_]; }
  [[nodiscard]] models::score test() const override { return {}; }
  [[nodiscard]] models::snapshot copy() const override { return {iteration_, {}, {}}; }
  [[nodiscard]] double bytes_per_weight() const override { return 4; }
  void go_to(const models::snapshot& from) override { iteration_ = from.iteration; }
  [[nodiscard]] cairn::any_mutable_state state(models::part /*what*/) override { return {}; }
  void restored(models::part /*what*/, std::uint64_t iteration) override { iteration_ = iteration; }

 private:
  std::vector<double> losses_;
  std::uint64_t iteration_ = 0;
};

double iterations(std::vector<double> losses, double target, std::uint64_t evaluate = 1, std::uint64_t limit = 100) {
  scripted_run run(std::move(losses));
  return iterations_to(losses_until(run, target, evaluate, limit), target, evaluate);
}

models::setting scripted(std::vector<double> losses, std::uint64_t periods) {
  return {"scripted", 1, 1, periods, false, [=](std::uint64_t) { return std::make_unique<scripted_run>(losses); }};
}

result with_rework(std::vector<std::vector<double>> rework) {
  result made;
  made.rework = std::move(rework);
  return made;
}

TEST_CASE("iterations to a loss are interpolated") {
  CHECK(iterations({3, 2, 1}, 3) == 0.0);
  CHECK(iterations({3, 2, 1}, 2) == 1.0);
  CHECK(iterations({3, 2, 1}, 1.25) == 1.75);
  CHECK(iterations({3, 2.9, 2, 1, 0}, 1, 2) == 3.0);  // evaluated after 0, 2 and 4: between 2 and 0
  CHECK(iterations({3, 2, 4, 1}, 1) == 3.0);
}

TEST_CASE("a target that is not reached has no number") {
  CHECK(std::isnan(iterations({3, 2, 2, 2, 2, 2}, 1, 1, 4)));
  CHECK(std::isnan(iterations({3, 2}, 1)));  // diverges
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(iterations({nan, nan, nan, nan, nan}, 1, 1, 4)));
  CHECK(std::isnan(mean_rework(with_rework({{1, 2}, {nan, 1}})).mean));
  CHECK(std::isnan(mean_rework(with_rework({{1, 2}, {nan, 1}})).low));
  CHECK(std::isnan(rework_ratio(with_rework({{1, nan}}), with_rework({{1, 2}})).mean));
  CHECK(unreached(with_rework({{1, nan}, {nan, 0}})) == 2);
}

TEST_CASE("a run that diverges or does not learn is refused") {
  CHECK_THROWS_WITH(train_undisturbed(scripted({3, 3, 3, 3, 3, 2.9, 2.8}, 5), 1),
                    Catch::Contains("scripted does not learn"));
  CHECK_THROWS_WITH(train_undisturbed(scripted({3, 2, infinite, infinite}, 2), 1),
                    Catch::Contains("scripted diverges"));
  CHECK_THROWS_WITH(train_undisturbed(scripted({3, 2, 1}, 4), 1), Catch::Contains("diverges"));
  CHECK(train_undisturbed(scripted({3, 2, 1, 0.5}, 3), 1).losses == std::vector<double>{3, 2, 1, 0.5});
}

TEST_CASE("failures are spread over the run, away from anchors") {
  for (const std::uint64_t periods : {4U, 11U, 12U, 20U, 24U, 40U, 100U})
    for (const std::size_t count : {1U, 3U, 8U, 10U}) {
      if (2 * count >= periods) continue;
      const auto at = failure_periods(periods, count);
      CHECK(at.size() == count);
      CHECK(at.front() == 1);
      CHECK(at.back() < periods);
      CHECK(std::is_sorted(at.begin(), at.end()));
      auto all = at;  // and the end of the run
      all.push_back(periods);
      for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i] - all[i - 1] <= periods / at.size() + 2);
      CHECK(std::none_of(at.begin(), at.end(), [](auto p) { return p % 10 == 0; }));
    }
  CHECK(failure_periods(12, 10).size() == 10);
  CHECK_THROWS_WITH(failure_periods(4, 4), "4 periods are too few for 4 failures");
  CHECK_THROWS_WITH(failure_periods(11, 10), Catch::Contains("too few"));
}

TEST_CASE("means and intervals") {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> any(0, 4);
  std::vector<std::vector<double>> rework(10, std::vector<double>(5)), twice = rework;
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 5; ++j) twice[i][j] = 2 * (rework[i][j] = any(rng));
  const auto once = with_rework(rework);
  const auto mean = mean_rework(once);
  CHECK(mean.low < mean.mean);
  CHECK(mean.mean < mean.high);
  const auto ratio = rework_ratio(with_rework(twice), once);  // from the same seeds: it does not vary
  CHECK(ratio.low == Approx(2));
  CHECK(ratio.high == Approx(2));
  CHECK(whole_rework(with_rework({{0.2, 1}, {0, 2.5}})) == 5.0 / 4);
}

TEST_CASE("methods keep to their bytes, and restore what they saved") {
  const auto model = models::setting_of("mf", "");
  const auto run = model.start(1), restarted = model.start(2);
  const auto first = run->copy();
  const auto moved = [&](const models::snapshot& to) {
    double sum = 0;
    for (std::size_t i = 0; i < to.weights.size(); ++i)
      sum += static_cast<double>((to.weights[i] - first.weights[i]).squaredNorm());
    return sum;
  };
  const auto scar = write_by_scar(*run, models::part::weights), topn = write_by_topn(*run, models::part::weights);
  const auto lossless = write_by_cairn(*run, models::part::weights, codec_settings().back());
  const auto lc3 = write_by_cairn(*run, models::part::weights, codec_settings()[1]);
  for (int i = 0; i < 5; ++i) run->step();
  const auto now = run->copy();
  for (auto* peer : {scar.get(), topn.get()}) {
    const double bytes = peer->save(*run, 1000);
    CHECK(bytes <= 1000);
    CHECK(bytes > 900);
    peer->restore(*restarted);
    const auto part = restarted->copy();
    CHECK(part.iteration == 5);
    CHECK(moved(part) > 0);
    CHECK(moved(part) < moved(now));
    CHECK(peer->save(*run, infinite) > 1000);
    peer->restore(*restarted);
    CHECK(restarted->copy().weights == now.weights);
  }
  lossless->save(*run, 0);
  lossless->restore(*restarted);
  CHECK(restarted->copy().weights == now.weights);
  CHECK(restarted->iteration() == 5);
  CHECK(lc3->save(*run, 0) < 0.15 * 4 * static_cast<double>(models::elements_of(now.weights)));
  lc3->restore(*restarted);
  CHECK(restarted->copy().weights != now.weights);
  run->step();
  CHECK(lossless->save(*run, 0) > 0);  // the chain goes on after a restore
  lossless->restore(*restarted);
  CHECK(restarted->copy().weights == run->copy().weights);
}

/// The squared distance of a row, and whether the checkpoint has it: as it is now, or as it was first.
struct saved_row {
  double distance;
  bool is_saved;
};

std::vector<saved_row> rows_of(const models::arrays& first, const models::arrays& now, const models::arrays& saved) {
  std::vector<saved_row> rows;
  for (std::size_t i = 0; i < now.size(); ++i)
    for (Eigen::Index r = 0; r < now[i].rows(); ++r) {
      const bool is_saved = saved[i].row(r) == now[i].row(r);
      REQUIRE((is_saved || saved[i].row(r) == first[i].row(r)));
      rows.push_back({static_cast<double>((now[i].row(r) - first[i].row(r)).squaredNorm()), is_saved});
    }
  return rows;
}

TEST_CASE("SCAR saves whole rows, and TOPN elements: those that have moved farthest") {
  const auto model = models::setting_of("mf", "");
  const auto run = model.start(1), restarted = model.start(2);
  const auto first = run->copy();
  const auto scar = write_by_scar(*run, models::part::weights), topn = write_by_topn(*run, models::part::weights);
  for (int i = 0; i < 5; ++i) run->step();
  const auto now = run->copy();
  const auto check = [](const std::vector<saved_row>& all, std::size_t expected) {
    double nearest_saved = infinite, farthest_other = 0;
    std::size_t saved = 0;
    for (const auto& each : all) {
      if (each.distance == 0) continue;
      if (each.is_saved)
        ++saved, nearest_saved = std::min(nearest_saved, each.distance);
      else
        farthest_other = std::max(farthest_other, each.distance);
    }
    CHECK(saved == expected);
    CHECK(nearest_saved >= farthest_other * 0.999999);  // squares are summed in another order
  };
  const auto columns = static_cast<double>(now.weights[0].cols());
  REQUIRE(now.weights[1].cols() == now.weights[0].cols());
  scar->save(*run, 10.5 * (4 + 4 * columns));
  scar->restore(*restarted);
  check(rows_of(first.weights, now.weights, restarted->copy().weights), 10);
  topn->save(*run, 100.5 * 8);
  topn->restore(*restarted);
  const auto as_columns = [](models::arrays all) {
    for (auto& each : all) each = models::matrix(each.reshaped<Eigen::RowMajor>());
    return all;
  };
  check(rows_of(as_columns(first.weights), as_columns(now.weights), as_columns(restarted->copy().weights)), 100);
}

TEST_CASE("weights in BF16 cost two bytes, for all methods") {
  constexpr models::gpt_shape tiny{64, 6, 16, 2};
  for (const bool is_bf16 : {false, true}) {
    const auto model = models::gpt_setting("gpt", tiny, is_bf16);
    const auto run = model.start(1), restarted = model.start(2);
    run->step();
    const auto now = run->copy();
    const double bytes = is_bf16 ? 2 : 4, weights = static_cast<double>(models::elements_of(now.weights)),
                 slots = static_cast<double>(models::elements_of(now.slots));
    for (const auto what : {models::part::weights, models::part::weights_and_optimizer}) {
      const auto full = write_full(*run, what), topn = write_by_topn(*run, what);
      const auto lossless = write_by_cairn(*run, what, codec_settings().back());
      run->step();
      const double others = what == models::part::weights ? 0 : slots;
      CHECK(full->save(*run, infinite) == bytes * weights + 4 * others);
      const double by_topn = topn->save(*run, infinite);  // of the elements that have changed
      CHECK(by_topn <= (4 + bytes) * weights + 8 * others);
      CHECK(by_topn > 0.3 * ((4 + bytes) * weights + 8 * others));
      CHECK(lossless->save(*run, infinite) < bytes * weights + 4 * others);
      for (auto* each : {full.get(), topn.get(), lossless.get()}) {
        each->restore(*restarted);
        CHECK(restarted->copy().weights == run->copy().weights);
        if (what == models::part::weights_and_optimizer) CHECK(restarted->copy().slots == run->copy().slots);
        CHECK(restarted->iteration() == run->iteration());
      }
    }
  }
}

TEST_CASE("a method that has spent more than it was given waits") {
  const auto model = models::setting_of("mf", "");
  auto shorter = model;
  shorter.periods = 10;
  const auto run = train_undisturbed(shorter, 1);
  const experiment how{shorter, models::part::weights, {1, 9}};
  result every, fourth;
  trial(how, run, 1).measure({"full", write_full, infinite}, every);
  trial(how, run, 1).measure({"full", write_full, 0.25}, fourth);
  CHECK(every.rework.front() == std::vector<double>{0, 0});
  CHECK(every.spent.front().size() == 9);
  CHECK(fourth.spent.front().size() == 3);  // after periods 1, 5 and 9
  CHECK(fourth.rework.front() == std::vector<double>{0, 0});
  CHECK(fits(every.spent.front(), 1));
  CHECK_FALSE(fits(every.spent.front(), 0.5));
  CHECK(every.delay == std::vector<double>{0});
  CHECK(fourth.delay == std::vector<double>{0});
  result old;  // restarts from period 5 after a failure in period 8: data is replayed, so it is three periods late
  trial({shorter, models::part::weights, {8}}, run, 1).measure({"full", write_full, 0.25}, old);
  CHECK(old.spent.front().size() == 2);
  CHECK(old.rework.front().front() == Approx(3));
  CHECK(old.delay.front() == Approx(3));
}

/// A run of losses that counts its steps.
class counting_run final : public scripted_run {
 public:
  counting_run(std::vector<double> losses, std::size_t& steps) : scripted_run(std::move(losses)), steps_(steps) {}
  void step() override {
    ++steps_;
    scripted_run::step();
  }

 private:
  std::size_t& steps_;
};

/// Always restores the same state.
class stale final : public checkpoint_writer {
 public:
  explicit stale(models::snapshot state) : state_(std::move(state)) {}
  double save(models::training& /*run*/, double /*budget*/) override { return 0; }
  void restore(models::training& to) override { to.go_to(state_); }

 private:
  models::snapshot state_;
};

method restores(models::snapshot state) {
  return {"stale", [=](models::training&, models::part) { return std::make_unique<stale>(state); }, 1};
}

TEST_CASE("a state that several methods restore is trained on once") {
  std::size_t steps = 0;
  const std::vector<double> losses{9, 8, 7, 6, 5, 4, 3, 2, 1};
  const models::setting model{
      "counted", 1, 1, 8, false, [&](std::uint64_t) { return std::make_unique<counting_run>(losses, steps); }};
  const auto run = train_undisturbed(model, 1);
  trial restarts({model, models::part::weights, {2, 4}}, run, 1);
  result first, second, other;
  steps = 0;
  restarts.measure(restores({0, {}, {}}), first);
  CHECK(steps == 2 + 6);  // to the loss after period 2; then to that after period 4, and on to that after period 6
  CHECK(first.rework.front() == std::vector<double>{2, 4});
  CHECK(first.delay == std::vector<double>{4});
  restarts.measure(restores({0, {}, {}}), second);
  CHECK(steps == 2 + 6);
  CHECK(second.rework == first.rework);
  CHECK(second.delay == first.delay);
  restarts.measure(restores({1, {}, {}}), other);
  CHECK(other.rework.front() == std::vector<double>{1, 3});
  CHECK(other.delay == std::vector<double>{3});
}

TEST_CASE("states that differ in the weights or in the optimizer alone are told apart") {
  auto model = models::gpt_setting("gpt", {64, 6, 16, 2}, false);
  model.period = 10, model.periods = 6;
  const auto run = train_undisturbed(model, 1);
  const auto &right = run.checkpoints[2], &old = run.checkpoints[1];
  trial restarts({model, models::part::weights_and_optimizer, {2}}, run, 1);
  const auto costs_of = [&](const models::snapshot& state) {
    result costs;
    restarts.measure(restores(state), costs);
    return costs;
  };
  const auto exact = costs_of(right);
  CHECK(exact.rework.front().front() == 0);
  CHECK(exact.delay.front() == 0);
  CHECK(costs_of({right.iteration, right.weights, old.slots}).delay != exact.delay);
  CHECK(costs_of({right.iteration, old.weights, right.slots}).rework != exact.rework);
  CHECK(costs_of(right).delay == exact.delay);
}

TEST_CASE("a loss halfway to the end that is higher than at the failure is reached first") {
  const auto model = scripted({9, 5, 1, 8, 3, 0, 0, 0, 0, 0, 0, 0}, 4);
  const experiment how{model, models::part::weights, {2}};
  const undisturbed_run run{{{0, {}, {}}, {1, {}, {}}, {2, {}, {}}}, {9, 5, 1, 8, 3}, {}};
  result costs;
  trial(how, run, 1)
      .measure({"full", write_full, 0.5}, costs);  // no elements: no bytes are given, and nothing is saved
  CHECK(costs.rework.front() == std::vector<double>{2});
  CHECK(costs.delay == std::vector<double>{0.25});
}

TEST_CASE("a restart that is too slow for its failure may still reach the fixed target") {
  for (const std::size_t slow : {22U, 23U}) {  // at most 2 + 20 iterations, and 4 more for the fixed target
    std::vector<double> losses(slow, 9.0);
    losses.insert(losses.end(), {5, 4, 3, 2, 1});
    const undisturbed_run run{{{0, {}, {}}, {1, {}, {}}}, {9, 5, 4, 3, 2}, {}};
    result costs;
    trial({scripted(losses, 4), models::part::weights, {1}}, run, 1).measure({"full", write_full, 0.5}, costs);
    const auto rework = costs.rework.front().front();
    if (slow == 22)
      CHECK(rework == 22);
    else
      CHECK(std::isnan(rework));
    CHECK(costs.delay == std::vector<double>{static_cast<double>(slow)});
  }
}

/// Its deltas are without content: what is restored is the parent.
struct forgetful {
  [[nodiscard]] std::string name() const { return "forgetful"; }
  [[nodiscard]] bool uses_parent() const { return true; }
  [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    if (in.reference.empty()) return {};
    std::fill_n(out.begin(), 400, std::byte{});
    return {.codec = name(), .bytes = 400, .relative = true};
  }
  void decode(const cairn::decode_request& /*from*/) const {}
};

TEST_CASE("the short form fails if a setting costs more rework than TOPN") {
  auto model = models::setting_of("mf", "");
  model.periods = 20, model.failures = 2;
  const auto settings = codec_settings();
  report numbers;
  CHECK(compare_shortly(model, std::span(settings).subspan(1, 1), 1, numbers));
  const codec_setting forgets{"forgets", {{"*", forgetful{}}}};
  CHECK_FALSE(compare_shortly(model, std::vector{settings[1], forgets}, 1, numbers));
}

/// The numbers that `numbers` has.
nlohmann::json written(const report& numbers) {
  const auto file =
      std::filesystem::temp_directory_path() / ("cairn_bench_rework_" + std::to_string(::getpid()) + ".json");
  numbers.write_json(file.string());
  auto all = nlohmann::json::parse(std::ifstream(file));
  std::filesystem::remove(file);
  return all;
}

TEST_CASE("several restarts in one run") {
  auto model = models::gpt_setting("gpt", {64, 6, 16, 2}, false);
  model.period = 2, model.periods = 6;
  const auto undisturbed = model.start(1);
  for (std::uint64_t i = 0; i < model.period * model.periods; ++i) undisturbed->step();
  report numbers;
  probe_restarts(model, {{1, undisturbed->test()}}, {1, 3, 10}, numbers);
  const auto found = written(numbers);
  for (const std::string codec : {"lc3", "lc2_contract"}) {
    const auto name = "accuracy_loss.gpt." + codec + "_after_";
    for (const auto* count : {"1", "3"}) {
      const double percent = found.at(name + count + "_restores");
      CHECK(percent != 0);
      CHECK(std::abs(percent) < 20);
    }
    CHECK(found.count(name + "10_restores") == 0);  // in 6 periods
    CHECK(found.at("bound.at_most." + name + "10_restores") == 0.5);
  }
}

}  // namespace
