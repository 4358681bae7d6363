// SPDX-License-Identifier: MIT
// Ten thousand saves of states of all sizes, by all codecs, with restarts, merging and retention: every restart
// restores what was saved, and nothing grows, neither memory nor descriptors nor threads nor files.
#include "cairn/checkpointer.hpp"

#include <malloc.h>
#include <unistd.h>

#include "cairn/store/directory.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "trainer.hpp"

namespace soak {

namespace {

namespace fs = std::filesystem;

/// Arrays that train, and something of everything.
struct soaked {
  std::vector<float> weights;
  std::vector<double> moments;
  std::vector<std::uint8_t> bytes;
  tests::everything things;
};

/// Random states: most of them a little later in training than the one before, some of other sizes.
class training {
 public:
  explicit training(std::uint64_t seed) : random_(seed), things_(seed) { resize(); }

  void advance(soaked& now) {
    if (one_in(10)) resize();
    fit(now.weights);
    fit(now.moments);
    fit(now.bytes);
    if (one_in(8)) now.things = things_.next();
    for (auto i = below(4); i < now.weights.size(); i += 1 + below(9)) now.weights[i] += 1e-4F * number();
    for (auto i = below(64); i < now.moments.size(); i += 1 + below(99)) now.moments[i] = static_cast<double>(number());
    for (auto i = below(64); i < now.bytes.size(); i += 1 + below(99))
      now.bytes[i] = static_cast<std::uint8_t>(random_());
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t end) { return random_() % end; }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  [[nodiscard]] float number() { return static_cast<float>(static_cast<int>(below(2001)) - 1000) / 1024; }

  /// Sizes from 0 to some tens of thousands of elements, small ones as likely as big ones.
  void resize() { elements_ = one_in(12) ? 0 : below(std::size_t{2} << below(15)); }

  template <class Values>
  void fit(Values& values) {
    const auto had = values.size();
    values.resize(elements_);
    for (auto i = had; i < values.size(); ++i) values[i] = static_cast<typename Values::value_type>(number());
  }

  std::mt19937_64 random_;
  tests::random_states things_;
  std::size_t elements_ = 0;
};

/// The most checkpoints that any of the options below keeps: the rules' own, and two chains that deltas stand on.
constexpr std::size_t most_kept = 4 + 2 + 10 + 2 * 12;

cairn::checkpointer_options random_options(std::mt19937_64& random) {
  const auto below = [&](std::size_t end) { return random() % end; };
  const cairn::codec_rules rules[] = {
      {},
      {{"*", cairn::codecs::raw{}}},
      {{"*", cairn::codecs::lossless{.xor_parent = true}}},
      {{"weights", cairn::codecs::lc<3>{}}, {"moments", cairn::codecs::lossless{.xor_parent = true}}}};
  cairn::checkpointer_options made;
  made.keep_last = 1 + below(4);
  if (below(3) == 0) made.keep_best = cairn::keep_best_rule{.count = 1 + below(2)};
  if (below(3) == 0) made.keep_every = 1000;
  made.when = cairn::policies::every_steps{1};
  made.durable = false;
  made.threads = static_cast<unsigned>(below(3));
  made.shards = 1 + below(4);
  made.codecs = rules[below(4)];
  made.asynchronous = below(8) != 0;
  if (made.asynchronous) {
    made.on_busy = static_cast<cairn::when_busy>(below(3));
    made.copy_threads = static_cast<unsigned>(below(3));
    if (below(4) == 0) made.max_staging_bytes = std::uint64_t{1} << 20U;
  }
  made.chain = {.anchor_every = 1 + below(12), .merge = chain::merging(chain::at_least(2, below(5)))};
  if (made.chain.merge) made.chain.merge->to_whole = below(2) == 0;
  return made;
}

struct resources {
  std::size_t resident = 0, descriptors = 0, threads = 0;  // bytes; with no checkpointer alive
};

std::size_t entries_of(const std::string& path) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

resources measure() {
  ::malloc_trim(0);
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return {resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), entries_of("/proc/self/fd"),
          entries_of("/proc/self/task")};
}

/// The greatest error of a lossy leaf in the newest checkpoint; nothing where it is exact.
std::optional<double> recorded_error(const cairn::detail::stored_checkpoint& stored, const std::string& path) {
  std::optional<double> worst;
  for (const auto& slice : stored.slices_of(stored.contents.find(path)))
    if (slice.encoded && slice.encoded->lost) worst = std::max(worst.value_or(0), slice.encoded->lost->max_error);
  return worst;
}

/// Whether `restored`, read from checkpoint `name`, is `real`: bit by bit, lossy weights as far off as the file says.
bool is_as_saved(const soaked& restored, const soaked& real, const std::string& root, const std::string& name) {
  if (restored.moments != real.moments || restored.bytes != real.bytes || !tests::same(restored.things, real.things))
    return false;
  const cairn::detail::chain_reader reader(cairn::stores::directory(root), name);
  const auto allowed = recorded_error(reader.newest(), "weights");
  if (!allowed) return restored.weights == real.weights;
  double worst = 0;
  for (std::size_t i = 0; i < real.weights.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(restored.weights[i]) - static_cast<double>(real.weights[i])));
  return restored.weights.size() == real.weights.size() && worst == *allowed;
}

struct tally {
  std::size_t saves = 0, waited_for = 0, deltas = 0, skipped = 0, restarts = 0;
  std::atomic<std::size_t> merges = 0, pruned = 0;  // counted in the background
};

/// Saves and restarts until `saves` saves are done; then no checkpointer is alive.
class run {
 public:
  explicit run(std::string root) : root_(std::move(root)) {}

  void go_on(std::size_t saves) {
    std::unique_ptr<cairn::checkpointer> now;
    while (done_.saves < saves) {
      if (!now || random_() % 50 == 0) restart(now);
      save_next(*now);
    }
    now->wait();
    now.reset();
  }

  [[nodiscard]] const tally& done() const noexcept { return done_; }

  /// Every file is one that retention keeps.
  void check_files() const {
    CHECK(entries_of(root_) <= most_kept);
    for (const auto& each : fs::directory_iterator(root_)) {
      INFO(each.path());
      CHECK(each.path().filename().string().starts_with("step-"));
      CHECK(entries_of(each.path()) <= 5);  // four shards, the index
    }
  }

 private:
  /// Trains and saves, one time in eight waiting until that is done.
  void save_next(cairn::checkpointer& now) {
    training_.advance(state_);
    const cairn::observation seen{.step = ++step_, .loss = static_cast<double>(random_() % 1000)};
    if (random_() % 8 == 0) {
      ++done_.waited_for;
      done_.deltas += now.save(state_, seen).is_delta;
    } else if (now.step(state_, seen).skipped) {
      ++done_.skipped;
      return;
    }
    ++done_.saves;
  }

  void restart(std::unique_ptr<cairn::checkpointer>& now) {
    if (now) {
      now->wait();
      save_next(*now);  // nothing is in its way; the destructor waits for it
    }
    now.reset();
    auto options = random_options(random_);
    options.on_event = [&](const cairn::event& e) {
      done_.merges += e.what == cairn::event::kind::merged;
      done_.pruned += e.what == cairn::event::kind::pruned;
    };
    now = std::make_unique<cairn::checkpointer>(root_, options);
    soaked restored;
    const auto report = now->restore(restored);
    if (!report && step_ == 0) return;
    REQUIRE(report);
    REQUIRE(report->step == step_);
    REQUIRE(report->skipped.empty());
    REQUIRE(is_as_saved(restored, state_, root_, report->name));
    state_ = std::move(restored);  // the trainer goes on from what was restored
    ++done_.restarts;
  }

  std::string root_;
  std::mt19937_64 random_{41};
  training training_{42};
  soaked state_;
  std::uint64_t step_ = 0;
  tally done_;
};

}  // namespace

TEST_CASE("soak: ten thousand saves leave nothing behind") {
  const std::size_t saves = std::getenv("CAIRN_LONG_TESTS") != nullptr ? 100'000 : 10'000;
  constexpr std::size_t warm_up = 1000, slack = std::size_t{16} << 20U;  // bytes that the allocator may keep
  const auto start = std::chrono::steady_clock::now();
  const sample::scratch scratch(sample::in_memory());
  run all(scratch.path("run"));
  all.go_on(warm_up);
  const auto before = measure();
  all.check_files();
  all.go_on(saves);
  const auto after = measure();
  all.check_files();
  CHECK(after.resident <= before.resident + slack);
  CHECK(after.descriptors == before.descriptors);
  CHECK(after.threads == before.threads);
  const auto& done = all.done();
  CHECK(done.deltas > done.waited_for / 10);
  CHECK(done.merges > saves / 200);
  CHECK(done.pruned > saves / 4);
  CHECK(done.skipped > 0);
  CHECK(done.restarts > saves / 100);
  std::printf(
      "soak: %zu saves, %zu of them waited for, %zu more skipped, %zu merges, %zu removed, %zu restarts in %.1f s; "
      "resident %.1f MiB after %zu saves, %.1f MiB at the end; %zu descriptors, %zu threads\n",
      done.saves, done.waited_for, done.skipped, done.merges.load(), done.pruned.load(), done.restarts,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
      static_cast<double>(before.resident) / (1 << 20), warm_up, static_cast<double>(after.resident) / (1 << 20),
      after.descriptors, after.threads);
}

}  // namespace soak
