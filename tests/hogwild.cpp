// SPDX-License-Identifier: MIT
// Threads that go on writing the elements of the state while a save from its memory runs, as in Hogwild training: what
// is hashed is what is written, and a reader gets what the next delta is built on. Here the state changes at every
// write of a file and within codecs.
#include "cairn/checkpointer.hpp"

#include "cairn/encode/lc.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "copying_codec.hpp"
#include "store/sample.hpp"

namespace {

struct row {
  std::uint32_t id = 0;
  float score = 0;
};

struct state {
  std::vector<std::uint32_t> noise;  // no codec makes it smaller
  std::vector<float> weights;
  std::vector<row> rows;  // strided leaves
};

state started(std::mt19937& random, std::size_t size) {
  state made;
  for (std::size_t i = 0; i < size; ++i) {
    made.noise.push_back(static_cast<std::uint32_t>(random()));
    made.weights.push_back(static_cast<float>(random() % 1000) / 8);
    made.rows.push_back({static_cast<std::uint32_t>(i), 1});
  }
  return made;
}

/// Some elements of every array get other values.
void write_some(state& now, std::mt19937& random) {
  for (int i = 0; i < 100; ++i) {
    const auto at = random() % now.noise.size();
    now.noise[at] += 1;
    now.weights[at] += 0.125F;
    now.rows[at].score += 1;
  }
}

/// A store that calls `before_write` before it takes the bytes to write. It has no memory of its own for the writer to
/// fill.
struct busy_store {
  cairn::any_store inner;
  std::function<void()> before_write;

  struct sink final : cairn::stores::sink {
    sink(cairn::stores::sink& to, const std::function<void()>& before) : inner(to), before_write(before) {}
    void write(std::uint64_t offset, std::span<const cairn::stores::buffer> buffers) override {
      before_write();
      inner.write(offset, buffers);
    }
    [[nodiscard]] std::size_t alignment() const noexcept override { return inner.alignment(); }

    cairn::stores::sink& inner;
    const std::function<void()>& before_write;
  };
  struct transaction final : cairn::stores::transaction {
    transaction(std::unique_ptr<cairn::stores::transaction> to, const std::function<void()>& before)
        : inner(std::move(to)), before_write(before) {}
    cairn::stores::sink& create(std::string_view file, std::uint64_t bytes) override {
      return *sinks.emplace_back(std::make_unique<sink>(inner->create(file, bytes), before_write));
    }
    void prepare() override { inner->prepare(); }
    void publish() override { inner->publish(); }

    std::unique_ptr<cairn::stores::transaction> inner;
    const std::function<void()>& before_write;
    std::vector<std::unique_ptr<sink>> sinks;
  };

  [[nodiscard]] std::string location() const { return inner.location(); }
  [[nodiscard]] cairn::stores::ownership lock() { return inner.lock(); }
  [[nodiscard]] std::unique_ptr<cairn::stores::transaction> begin(std::string_view name) {
    return std::make_unique<transaction>(inner.begin(name), before_write);
  }
  [[nodiscard]] std::vector<std::string> list() const { return inner.list(); }
  [[nodiscard]] std::shared_ptr<const cairn::stores::publication> open(std::string_view name) const {
    return inner.open(name);
  }
  void remove(std::string_view name) { inner.remove(name); }
};

/// Encodes without loss, or not at all; calls `between` between two readings of the elements, which must be the same.
struct two_pass_codec : tests::copying_codec {
  std::function<void()> between;
  bool pays = true;

  [[nodiscard]] static bool uses_parent() { return false; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    const std::vector<std::byte> first(in.values.begin(), in.values.end());
    between();
    CHECK(std::equal(first.begin(), first.end(), in.values.begin()));
    if (!pays) return {};
    return copying_codec::encode(in, out);
  }
};

}  // namespace

TEST_CASE("a state that is written while save or the save at a signal runs: the checkpoints can be restored") {
  const std::vector<cairn::codec_rules> all_rules{
      {},
      {{"*", cairn::codecs::raw{}}},
      {{"*", cairn::codecs::lossless{.xor_parent = true}}},
      {{"weights", cairn::codecs::lc<2>{}}, {"*", cairn::codecs::lossless{.xor_parent = true}}}};
  const sample::scratch scratch(sample::in_memory());
  for (std::size_t i = 0; i < all_rules.size(); ++i)
    for (const bool durable : {false, true}) {  // durable: direct I/O, where the file system has it
      INFO("rules " << i << ", durable: " << durable);
      std::mt19937 random(1);
      auto now = started(random, 400'000);
      const auto path = scratch.path(std::to_string(i) + (durable ? "-durable" : ""));
      const busy_store store{cairn::stores::directory(path, {.durable = durable}), [&] { write_some(now, random); }};
      cairn::checkpointer run(
          store, {.when = cairn::policies::every_steps{0}, .threads = 1, .codecs = all_rules[i], .preempt = {SIGUSR1}});
      for (std::uint64_t step = 1; step <= 4; ++step) {
        const auto before = now;
        if (step == 4) std::raise(SIGUSR1);
        if (step == 4)
          CHECK(run.step(now, {.step = step}).stop);
        else
          run.save(now, {.step = step});
        CHECK(before.noise != now.noise);
        state back;
        const auto report = cairn::checkpointer(path).restore(back);
        REQUIRE(report);
        CHECK(report->step == step);
        CHECK(report->skipped.empty());
        for (std::size_t k = 0; k < before.noise.size(); ++k) {
          REQUIRE((back.noise[k] >= before.noise[k] && back.noise[k] <= now.noise[k]));
          REQUIRE((back.rows[k].score >= before.rows[k].score && back.rows[k].score <= now.rows[k].score));
          if (i != 3) REQUIRE((back.weights[k] >= before.weights[k] && back.weights[k] <= now.weights[k]));
        }
        CHECK(back.rows[7].id == 7);
      }
    }
}

TEST_CASE(
    "a codec sees the same elements as often as it reads them, whoever writes the state, and one-shot saves too") {
  for (const bool pays : {true, false}) {
    std::mt19937 random(2);
    auto now = started(random, 1000);
    const two_pass_codec codec{{}, [&] { write_some(now, random); }, pays};
    const cairn::stores::memory memory;
    const busy_store store{memory, [&] { write_some(now, random); }};
    const auto before = now;
    cairn::save(store, "once", now, {.threads = 1, .codecs = {{"*", codec}}});
    CHECK(now.noise != before.noise);
    state back;
    CHECK_NOTHROW(cairn::load(memory, "once", back, {.codecs = {{"*", codec}}}));
    CHECK(back.noise.size() == 1000);
  }
}

TEST_CASE("threads write the state at any moment of steps and saves: each element is one that it had in between") {
  const sample::scratch scratch(sample::in_memory());
  std::vector<std::uint32_t> now(50'000);
  std::atomic<bool> ends{false};
  std::vector<std::thread> writers;
  for (std::size_t thread = 0; thread < 2; ++thread)
    writers.emplace_back([&, thread] {
      for (std::size_t i = thread; !ends; i = (i + 2) % now.size()) ++std::atomic_ref(now[i]);
    });
  const auto copy = [&] {
    std::vector<std::uint32_t> seen;
    for (auto& each : now) seen.push_back(std::atomic_ref(each).load());
    return seen;
  };
  cairn::checkpointer run(scratch.path("run"), {.when = cairn::policies::every_steps{1},
                                                .durable = false,
                                                .codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}},
                                                .on_busy = cairn::when_busy::wait});
  for (std::uint64_t step = 1; step <= 20; ++step) {
    const auto before = copy();
    if (step % 4 == 0)
      run.save(now, {.step = step});
    else
      std::ignore = run.step(now, {.step = step});
    const auto after = copy();
    run.wait();
    std::vector<std::uint32_t> back;
    const auto report = cairn::load(scratch.path("run"), back);
    REQUIRE(report.step == step);
    REQUIRE(back.size() == now.size());
    bool all = true;
    for (std::size_t i = 0; i < back.size(); ++i) all = all && back[i] >= before[i] && back[i] <= after[i];
    CHECK(all);
  }
  ends = true;
  for (auto& each : writers) each.join();
}
