// SPDX-License-Identifier: MIT
#include "cairn/levels/copier.hpp"

#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/levels.hpp"
#include "cairn/save.hpp"
#include "cairn/store/directory.hpp"
#include "catch.hpp"
#include "gate.hpp"
#include "hooked_store.hpp"
#include "store/sample.hpp"

using namespace std::chrono_literals;
using sample::steps_in;
using steps = std::vector<std::uint64_t>;

namespace {

/// Checkpoints at a near place, and a copier from there to a far one.
struct copied_run {
  std::optional<double> max_bytes_per_second{};
  sample::scratch scratch{};
  cairn::any_store near = cairn::stores::directory(scratch.path(), {.durable = false});
  std::atomic<bool> is_away = false;
  tests::gated_store far{.refuses = [this](std::string_view) { return is_away.load(); }};
  cairn::checkpointer_options options{};
  std::vector<cairn::event> events{};
  std::shared_ptr<cairn::detail::level_list> all = std::make_shared<cairn::detail::level_list>(
      std::vector<cairn::level>{cairn::level(near), cairn::level(far, {.max_bytes_per_second = max_bytes_per_second})});
  cairn::detail::joint_copy joint{*all, options, 0, 1};
  cairn::detail::level_copier copier{*all, 1, joint, options,
                                     [this](const cairn::event& what) { events.push_back(what); }};

  void publish(std::uint64_t step) {
    const auto name = cairn::detail::checkpoint_name(step);
    cairn::save(near, name, std::vector<float>(100, static_cast<float>(step)), {.step = step});
    copier.published(name);
  }
  [[nodiscard]] bool finish() { return copier.finish(std::chrono::steady_clock::now() + 60s); }
};

}  // namespace

TEST_CASE("a checkpoint that is removed while it is copied is not missed, and not copied again") {
  copied_run run{.max_bytes_per_second = 1};  // the copy waits until it is cancelled
  run.publish(1);
  while (!run.copier.is_copying()) std::this_thread::yield();
  run.copier.forget("step-000000001");
  run.near.remove("step-000000001");
  run.copier.hurry();
  CHECK(run.copier.complete(std::chrono::steady_clock::now() + 60s));  // nothing is left to copy
  CHECK(run.finish());
  CHECK(run.events.empty());
  CHECK(steps_in(run.far.inner).empty());
}

TEST_CASE("where the checkpoint that is copied is being deleted, as a newer one of its name is there, that is copied") {
  const sample::scratch scratch;
  const std::string name = "step-000000001";
  cairn::any_store near = cairn::stores::directory(scratch.path("near"));
  cairn::any_store far = cairn::stores::directory(scratch.path("far"));
  cairn::save(near, name, std::vector<float>(100, 1), {.step = 1});
  bool is_first = true;
  hooked_store hooked{near, {}};
  hooked.by.before_open = [&](std::string_view, std::string_view file) {
    if (!file.starts_with("shard-") || !std::exchange(is_first, false)) return;
    std::filesystem::copy(scratch.path("near/" + name), scratch.path("near/" + name + "~2"));
    std::filesystem::remove(scratch.path("near/" + name + "/" + std::string(file)));
  };
  cairn::detail::copy_checkpoint(hooked, name, far, [](std::uint64_t) {});
  CHECK_FALSE(is_first);
  CHECK(steps_in(far) == steps{1});
}

TEST_CASE("a shorter period is noticed by a copier that waits") {
  copied_run run;
  run.publish(1);
  CHECK(run.finish());
  run.copier.set_period(3600);
  run.publish(2);
  CHECK(run.finish());  // not due
  CHECK(steps_in(run.far.inner) == steps{1});
  run.copier.set_period(0);
  CHECK(run.finish());
  CHECK(steps_in(run.far.inner) == steps{1, 2});
}

TEST_CASE("the time of copies is told once, that of failed ones apart") {
  copied_run run;
  run.is_away = true;
  run.publish(1);
  run.copier.hurry();
  CHECK_THROWS_AS(run.copier.complete(std::chrono::steady_clock::now() + 60s), cairn::error);
  const auto first = run.copier.take_ended();
  CHECK((first.made == 0 && first.failed > 0));
  run.is_away = false;
  run.publish(2);
  run.copier.hurry();
  CHECK(run.copier.complete(std::chrono::steady_clock::now() + 60s));
  const auto second = run.copier.take_ended();
  CHECK((second.made > 0 && second.failed == 0));
  const auto third = run.copier.take_ended();
  CHECK((third.made == 0 && third.failed == 0));
}

TEST_CASE("after an outage a copy that is wanted at once is not held back by the failures before it") {
  copied_run run;
  const auto in_a_minute = [] { return std::chrono::steady_clock::now() + 60s; };
  run.is_away = true;
  for (std::uint64_t step = 1; step <= 10; ++step) {  // the pause between two tries grows to minutes
    run.publish(step);
    run.copier.hurry();
    CHECK_THROWS_AS(run.copier.complete(in_a_minute()), cairn::error);
  }
  run.is_away = false;
  run.copier.hurry();
  CHECK(run.copier.complete(in_a_minute()));
  CHECK(steps_in(run.far.inner) == steps{10});
}
