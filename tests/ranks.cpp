// SPDX-License-Identifier: MIT
// Checkpoints of several ranks, through the checkpointer.
#include "cairn/checkpointer.hpp"
#include "cairn/fields.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"
#include "cairn/schedule/policies.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/memory.hpp"

#include <future>

#include "catch.hpp"
#include "ranks.hpp"
#include "store/sample.hpp"

namespace {

struct model {
  std::vector<float> weights;
  std::map<std::string, std::vector<double>> moments;
  std::vector<std::string> names;
  std::uint64_t step = 0;

  friend bool operator==(const model&, const model&) = default;
};

model random_model(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  model made;
  made.weights.resize(random() % 100'000);
  for (auto& each : made.weights) each = static_cast<float>(random() % 1000) / 7;
  for (const auto* name : {"first", "second"}) {
    auto& values = made.moments[name];
    values.resize(random() % 10'000);
    for (auto& each : values) each = static_cast<double>(random()) / 3;
  }
  made.names = {"a", "", "third"};
  made.step = random();
  return made;
}

TEST_CASE("what N ranks have saved together, M ranks restore, bit for bit") {
  for (unsigned saved = 1; saved <= 6; ++saved) {
    const cairn::any_store store = cairn::stores::memory();
    const auto state = random_model(saved);
    auto failures = at_each(saved, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, quick(), group);
      auto own = state;
      require(!checkpoints.restore(own), "a first run restores");
      const auto report = checkpoints.save(own, {.step = 7, .loss = 0.5});
      require(report.leaves > 4 && report.bytes > 0, "an empty report");
    });
    CHECK(failures == std::vector<std::string>(saved));
    CHECK(store.open("step-000000007")->files().size() == saved + 1);
    for (unsigned loaded = 1; loaded <= 6; ++loaded) {
      INFO(saved << " -> " << loaded);
      failures = at_each(loaded, [&](const cairn::groups::threads& group) {
        cairn::checkpointer checkpoints(store, quick(), group);
        for (const auto how : {cairn::read_sharing::measured, cairn::read_sharing::always}) {
          model restored;
          const auto report = checkpoints.restore(restored, {.sharing = how});
          require(report && report->step == 7 && restored == state, "not restored");
        }
      });
      CHECK(failures == std::vector<std::string>(loaded));
    }
    model alone;
    cairn::load(store, "step-000000007", alone);
    CHECK(alone == state);
  }
}

TEST_CASE("ranks that differ in a call, the options or the state throw the same error, and nothing is saved") {
  const cairn::any_store store = cairn::stores::memory();
  SECTION("the call") {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, quick(), group);
      auto state = random_model(1);
      checkpoints.save(state, {.step = group.rank() == 1 ? 8U : 7U});
    }));
    CHECK_THAT(what, ContainsSubstring("the ranks differ in the call: rank 0: save at step 7, rank 1: save at step 8"));
  }
  SECTION("another call") {
    const auto what = common(at_each(2, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, quick(), group);
      auto state = random_model(1);
      if (group.rank() == 0)
        checkpoints.save(state, {.step = 7});
      else
        checkpoints.restore(state);
    }));
    CHECK_THAT(what, ContainsSubstring("rank 0: save at step 7, rank 1: restore"));
  }
  SECTION("the options") {
    const auto what = common(at_each(2, [&](const cairn::groups::threads& group) {
      auto options = quick();
      if (group.rank() == 1) options.codecs = {{"weights", cairn::codecs::raw()}};
      cairn::checkpointer checkpoints(store, options, group);
      auto state = random_model(1);
      checkpoints.save(state, {.step = 7});
    }));
    CHECK_THAT(what, ContainsSubstring("the options") && ContainsSubstring("weights: raw"));
  }
  SECTION("the chain") {
    const auto what = common(at_each(2, [&](const cairn::groups::threads& group) {
      auto options = quick();
      if (group.rank() == 1) options.chain.anchor_every = 7;
      cairn::checkpointer checkpoints(store, options, group);
      for (int call = 0; call < 2; ++call) {
        try {
          checkpoints.save(random_model(1), {.step = 7});
        } catch (const cairn::error&) {
          if (call == 1) throw;  // the same again
        }
      }
    }));
    CHECK_THAT(what, ContainsSubstring("the options") && ContainsSubstring("chain.anchor_every 7"));
  }
  SECTION("a shape") {
    const auto what = common(at_each(4, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, quick(), group);
      model state;
      state.weights.resize(group.rank() == 2 ? 4 : 3);
      checkpoints.save(state, {.step = 7});
    }));
    CHECK_THAT(what, ContainsSubstring("rank 0: weights F32[3], rank 2: weights F32[4]"));
  }
  SECTION("an array that one rank does not have") {
    const auto what = common(at_each(2, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, quick(), group);
      std::map<std::string, float> state{{"a", 1.0F}, {"b", 2.0F}};
      if (group.rank() == 1) state.emplace("c", 3.0F);
      checkpoints.save(state, {.step = 7});
    }));
    CHECK_THAT(what, ContainsSubstring("the ranks differ in the state"));
  }
  CHECK(store.list().empty());
}

TEST_CASE("a rank that has ended is named, and the others do not wait for it") {
  const cairn::any_store store = cairn::stores::memory();
  const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
    if (group.rank() == 2) return;
    cairn::checkpointer checkpoints(store, quick(), group);
    auto state = random_model(1);
    checkpoints.save(state, {.step = 7});
  });
  CHECK_THAT(thrown[0], ContainsSubstring("rank 2 has ended"));
  CHECK(thrown[1] == thrown[0]);
  CHECK(store.list().empty());
}

TEST_CASE("a rank that does not answer is named when the time is over, and all later calls throw that") {
  const cairn::any_store store = cairn::stores::memory();
  std::promise<void> over;
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    if (group.rank() == 1) return over.get_future().wait();
    auto options = quick();
    options.rank_timeout = std::chrono::milliseconds(50);
    cairn::checkpointer checkpoints(store, options, group);
    auto state = random_model(1);
    for (int call = 0; call < 2; ++call) {
      try {
        checkpoints.save(state, {.step = 7});
        require(false, "nothing was thrown");
      } catch (const cairn::error& cause) {
        require(cause.code() == cairn::errc::lost_rank, cause.what());
        require(std::string_view(cause.what()).find("have not answered: 1") != std::string_view::npos, cause.what());
      }
    }
    over.set_value();
  });
  CHECK(thrown == std::vector<std::string>(2));
  CHECK(store.list().empty());
}

TEST_CASE("an error of one rank is that of all, and the previous checkpoint stays") {
  const std::atomic<bool> never{false};
  for (unsigned broken = 0; broken < 3; ++broken) {
    const cairn::any_store store = cairn::stores::memory();
    const auto old = random_model(1), newer = random_model(2);
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      {
        cairn::checkpointer checkpoints(store, quick(), group);
        checkpoints.save(old, {.step = 7});
      }
      cairn::checkpointer checkpoints(broken_store(store, group.rank() == broken ? &never : nullptr), quick(), group);
      checkpoints.save(newer, {.step = 8});
    }));
    CHECK_THAT(what, ContainsSubstring("rank " + std::to_string(broken) + ": the disk is full"));
    CHECK(store.list() == std::vector<std::string>{"step-000000007"});
    const auto restored = at_each(2, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(store, quick(), group);
      model state;
      require(checkpoints.restore(state).has_value() && state == old, "not restored");
      checkpoints.save(newer, {.step = 8});  // the place is free again
    });
    CHECK(restored == std::vector<std::string>(2));
  }
}

namespace {

using notes = std::map<std::string, std::optional<double>>;
struct with_own_notes {
  std::vector<float> weights = std::vector<float>(1000);
  cairn::per_rank<notes> of_rank;
  notes& all() { return of_rank.value; }
};
struct with_common_notes {
  std::vector<float> weights = std::vector<float>(1000);
  notes common;
  notes& all() { return common; }
};

}  // namespace

/// In the record of its share, or in the list of what all ranks have.
TEMPLATE_TEST_CASE("a state that one rank cannot describe is an error of all, and the group goes on", "",
                   with_own_notes, with_common_notes) {
  for (const bool in_background : {false, true}) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(3, [&](const cairn::groups::threads& group) {
            auto options = quick();
            options.when = cairn::policies::every_steps{1};
            cairn::checkpointer checkpoints(store, options, group);
            TestType state;
            if (group.rank() == 1) state.all()["\xff"];  // no UTF-8, and no array has it in its path
            std::string what;
            try {
              save_at(checkpoints, state, 1, in_background);
            } catch (const cairn::error& cause) {
              what = cause.what();
              require(cause.code() == cairn::errc::invalid, "another code");
            }
            require(what.find("rank 1: ") != what.npos, "no error, or of another rank");
            state.all().clear();
            checkpoints.save(state, {.step = 2});
          }) == std::vector<std::string>(3));
    CHECK(store.list() == std::vector<std::string>{"step-000000002"});
  }
}

TEST_CASE("a place that is another one at one rank, under the same path, is an error of all") {
  const cairn::any_store store = cairn::stores::memory(), elsewhere = cairn::stores::memory();
  for (unsigned lost = 0; lost < 3; ++lost) {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(group.rank() == lost ? elsewhere : store, quick(), group);
      checkpoints.save(random_model(1), {.step = 7});
    }));
    CHECK_THAT(what, ContainsSubstring("nobody is saving to memory/step-000000007"));
    CHECK_THAT(what, ContainsSubstring("another place there than rank 0"));
    CHECK(store.list().empty());
    CHECK(elsewhere.list().empty());
  }
}

TEST_CASE("ranks that see different checkpoints at one path do not restore nothing, nor call them damaged") {
  cairn::any_store store = cairn::stores::memory();
  const cairn::any_store elsewhere = cairn::stores::memory();
  cairn::checkpointer(store).save(random_model(1), {.step = 7});
  for (unsigned lost = 0; lost < 3; ++lost) {
    const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
      cairn::checkpointer checkpoints(group.rank() == lost ? elsewhere : store, quick(), group);
      model state;
      checkpoints.restore(state);
    }));
    CHECK_THAT(what, ContainsSubstring("the ranks differ in the checkpoints that they see in memory: "));
    CHECK_THAT(what, ContainsSubstring("rank " + std::to_string(lost) + ": none"));
    CHECK_THAT(what, ContainsSubstring(": 1, the newest is step-000000007"));
  }
}

TEST_CASE("a checkpoint that one rank cannot read is passed over by all") {
  const cairn::any_store store = cairn::stores::memory();
  const auto old = random_model(1), newer = random_model(2);
  const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
    {
      cairn::checkpointer checkpoints(store, quick(), group);
      checkpoints.save(old, {.step = 7});
      checkpoints.save(newer, {.step = 8});
    }
    const auto damaged = [&](std::string_view name, std::string_view) {
      if (group.rank() == 1 && name == "step-000000008") cairn::fail(cairn::errc::unreadable, {"a bad sector"});
    };
    cairn::checkpointer checkpoints(hooked_store{store, {.before_open = damaged}}, quick(), group);
    model state;
    const auto report = checkpoints.restore(state);
    require(report && report->step == 7 && state == old, "not the older checkpoint");
    require(report->skipped.size() == 1, "the damaged checkpoint is not reported");
  });
  CHECK(thrown == std::vector<std::string>(3));
}

TEST_CASE("a shard that is missing or of another checkpoint: all ranks pass over the checkpoint") {
  const auto old = random_model(1), newer = random_model(2);
  const auto shard = cairn::detail::shard_file(2, 4);
  for (const bool is_foreign : {false, true}) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(4, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, quick(), group);
            checkpoints.save(old, {.step = 7});
            checkpoints.save(newer, {.step = 8});
          }) == std::vector<std::string>(4));
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& file : store.open("step-000000008")->files())
      if (file != shard) files.emplace_back(file, sample::get(store, "step-000000008", file));
    if (is_foreign) files.emplace_back(shard, sample::get(store, "step-000000007", shard));
    sample::put(store, "step-000000008", files);
    std::vector<std::string> reasons(3);
    CHECK(at_each(3, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, quick(), group);
            model state;
            const auto report = checkpoints.restore(state);
            require(report && report->step == 7 && state == old, "not the older checkpoint");
            require(report->skipped.size() == 1, "the damaged checkpoint is not reported");
            reasons[group.rank()] = report->skipped.front().reason;
          }) == std::vector<std::string>(3));
    CHECK_THAT(common(reasons), ContainsSubstring(shard));
  }
}

TEST_CASE("ranks that restore in other ways than each other are told so") {
  const cairn::any_store store = cairn::stores::memory();
  const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
    cairn::checkpointer checkpoints(store, quick(), group);
    for (const std::uint64_t step : {7U, 8U}) checkpoints.save(random_model(step), {.step = step, .loss = 1});
    model state;
    for (int way = 0; way < 3; ++way) {
      cairn::load_options options;
      if (group.rank() == 1) options.step = 7;
      try {
        if (way == 0)
          checkpoints.restore(state, options);
        else
          checkpoints.restore_best(state, {{.metric = way == 1 || group.rank() != 2 ? "loss" : "accuracy"}});
      } catch (const cairn::error& cause) {
        require(cause.code() == cairn::errc::mismatch, "another error");
        require(std::string_view(cause.what()).find("rank 0: step none") != std::string_view::npos || way == 2,
                "the difference is not named");
        continue;
      }
      require(way == 1, "nothing was refused");
    }
    checkpoints.restore(state);
    require(state == random_model(8), "not the newest");
  }));
  CHECK(what.empty());
}

TEST_CASE("beside a group that saves, another one restores, and does not save") {
  const cairn::any_store store = cairn::stores::memory();
  std::promise<void> saved, tried;
  std::thread first([&] {
    CHECK(at_each(2, [&](const cairn::groups::threads& group) {
            cairn::checkpointer checkpoints(store, quick(), group);
            checkpoints.save(random_model(1), {.step = 1});
            if (group.rank() != 0) return;
            saved.set_value();
            tried.get_future().wait();
          }) == std::vector<std::string>(2));
  });
  saved.get_future().wait();
  const auto what = common(at_each(3, [&](const cairn::groups::threads& group) {
    cairn::checkpointer checkpoints(store, quick(), group);
    auto state = random_model(1);
    const auto report = checkpoints.restore(state);
    require(report && report->step == 1, "not restored");
    checkpoints.save(state, {.step = 2});
  }));
  tried.set_value();
  first.join();
  CHECK_THAT(what, ContainsSubstring("somebody else is saving"));
}

TEST_CASE("a group that has restored keeps nobody from saving there") {
  const sample::scratch scratch;
  const auto saved = random_model(1);
  cairn::checkpointer(scratch.path()).save(saved, {.step = 1});
  std::string what;
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          cairn::checkpointer reader(scratch.path(), quick(), group);
          model state;
          require(reader.restore(state).has_value(), "nothing restored");
          if (group.rank() == 0)
            what = sample::failure_of([&] { cairn::checkpointer(scratch.path()).save(saved, {.step = 2}); }).sentence;
          require(reader.restore(state)->step == 2, "another step");  // after the save
          reader.save(state, {.step = 3});
        }) == std::vector<std::string>(2));
  CHECK(what.empty());
  CHECK(cairn::checkpointer(scratch.path()).steps() == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("a group that restores keeps nobody from saving there") {
  const sample::scratch scratch;
  const auto saved = random_model(1);
  cairn::checkpointer(scratch.path()).save(saved, {.step = 1});
  std::string what = "not tried";
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          hooked_store place{cairn::stores::directory(scratch.path()), {}};
          if (group.rank() == 0)
            place.by.before_open = [&](std::string_view, std::string_view file) {
              if (what == "not tried" && file != "index.json")
                what =
                    sample::failure_of([&] { cairn::checkpointer(scratch.path()).save(saved, {.step = 2}); }).sentence;
            };
          cairn::checkpointer reader(place, quick(), group);
          model state;
          require(reader.restore(state).has_value(), "nothing restored");
        }) == std::vector<std::string>(2));
  CHECK(what.empty());
}

TEST_CASE("a rank reports the progress of its share") {
  const cairn::any_store store = cairn::stores::memory();
  std::vector<cairn::event> events;
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = quick();
          if (group.rank() == 1) options.on_event = [&](const cairn::event& what) { events.push_back(what); };
          cairn::checkpointer(store, options, group).save(random_model(1), {.step = 1});
        }) == std::vector<std::string>(3));
  std::size_t seen = 0;
  for (const auto& each : events)
    if (each.what == cairn::event::kind::encoded) CHECK(each.bytes == each.total);  // as they are
  for (auto at = events.rbegin(); at != events.rend(); ++at)
    if (at->what == cairn::event::kind::progress && ++seen == 1) CHECK(at->bytes == at->total);
  CHECK(seen > 0);
}

TEST_CASE("a group that goes back in memory saves again at the steps of its policy") {
  const cairn::any_store store = cairn::stores::memory();
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.when = cairn::policies::every_steps{5};
          options.on_older_step = cairn::when_older::replace;
          cairn::checkpointer checkpoints(store, options, group);
          const auto state = random_model(1);
          for (const std::uint64_t first : {std::uint64_t{1}, std::uint64_t{6}})
            for (auto step = first; step <= 12; ++step) {
              const auto outcome = checkpoints.step(state, {.step = step});
              require(outcome.started == (step % 5 == 0), "another step is saved");
              checkpoints.wait();
            }
        }) == std::vector<std::string>(3));
  CHECK(store.list() == std::vector<std::string>{"step-000000005", "step-000000010"});
}

TEST_CASE("a group that restores from a place that is not there does not make it") {
  const sample::scratch scratch;
  const auto place = scratch.path("mistyped");
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          cairn::checkpointer checkpoints(place, quick(), group);
          auto state = random_model(1);
          require(!checkpoints.restore(state), "restored");
        }) == std::vector<std::string>(2));
  CHECK_FALSE(std::filesystem::exists(place));
}

TEST_CASE("a group restores a checkpoint of any name") {
  const cairn::any_store store = cairn::stores::memory();
  const auto saved = random_model(1);
  cairn::save(store, "the\nbest", saved);
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          model state;
          require(cairn::checkpointer(store, quick(), group).restore(state).has_value(), "nothing restored");
          require(state.weights == saved.weights, "other values");
        }) == std::vector<std::string>(2));
}

TEST_CASE("ranks that have drifted apart are reported with the path, or refused") {
  const cairn::any_store store = cairn::stores::memory();
  const auto run = [&](unsigned ranks, std::uint64_t first, cairn::replica_check check, unsigned drifted,
                       std::vector<std::string>& messages) {
    return at_each(ranks, [&, ranks](const cairn::groups::threads& group) {
      auto options = quick();
      options.replica_check = check;
      if (group.rank() == 0)
        options.on_event = [&](const cairn::event& what) {
          if (what.what == cairn::event::kind::differing) messages.push_back(what.message);
        };
      cairn::checkpointer checkpoints(store, options, group);
      std::map<std::string, std::vector<float>> state{{"a", std::vector<float>(40'000, 1.0F)},
                                                      {"b", std::vector<float>(200'000, 2.0F)}};
      if (group.rank() == drifted && drifted < ranks) state["b"][77'777] = 3;
      for (auto step = first; step < first + 60; ++step) checkpoints.save(state, {.step = step});
    });
  };
  std::vector<std::string> messages;
  for (unsigned drifted = 0; drifted < 3; ++drifted) {
    messages.clear();
    CHECK(run(3, 1 + 100 * drifted, cairn::replica_check::report, drifted, messages) == std::vector<std::string>(3));
    CHECK_FALSE(messages.empty());  // 64 of 960 KiB are compared at each of 60 saves
    CHECK(messages.size() < 20);
    for (const auto& each : messages)
      CHECK_THAT(each, ContainsSubstring("b differs at rank " + std::to_string(drifted)));
  }
  messages.clear();
  CHECK(run(3, 1001, cairn::replica_check::report, 3, messages) == std::vector<std::string>(3));
  CHECK(run(3, 2001, cairn::replica_check::off, 1, messages) == std::vector<std::string>(3));
  CHECK(messages.empty());
  const auto refused = common(run(3, 3001, cairn::replica_check::refuse, 2, messages));
  CHECK_THAT(refused, ContainsSubstring("the ranks do not have the same state: b differs at rank 2"));
}

TEST_CASE("ranks keep, remove and choose checkpoints as one process does") {
  const cairn::any_store store = cairn::stores::memory();
  const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
    auto options = quick();
    options.keep_last = 2;
    options.keep_best = {.metric = "loss", .count = 1};
    cairn::checkpointer checkpoints(store, options, group);
    model state = random_model(1);
    for (const auto step : std::vector<std::uint64_t>{1, 2, 3, 4}) {
      state.step = step;
      checkpoints.save(state, {.step = step, .loss = step == 1 ? 0.5 : 1.0});
    }
    require(checkpoints.steps() == std::vector<std::uint64_t>{1, 3, 4}, "other checkpoints are kept");
    require(checkpoints.restore_best(state).has_value() && state.step == 1, "not the best checkpoint");
    require(checkpoints.remove_after(3) == 1, "another number is removed");
    require(checkpoints.restore(state).has_value() && state.step == 3, "not the newest checkpoint");
    require(!checkpoints.restore(state, {.step = 3})->path.empty(), "no path");
  });
  CHECK(thrown == std::vector<std::string>(3));
}

/// The largest shard of a checkpoint over the mean.
double imbalance(const cairn::any_store& store, std::string_view name) {
  double largest = 0, sum = 0;
  const auto files = store.open(name)->files();
  for (const auto& file : files) {
    if (file == "index.json") continue;
    const auto bytes = static_cast<double>(store.open(name)->open(file)->size());
    largest = std::max(largest, bytes);
    sum += bytes;
  }
  return largest / (sum / static_cast<double>(files.size() - 1));
}

TEST_CASE("from the second save on, shares are even in the bytes that are stored, and any number restores them") {
  const cairn::any_store store = cairn::stores::memory();
  std::map<std::string, std::vector<float>> state;
  std::mt19937_64 random(14);
  state["a"].assign(400'000, 1.0F);  // takes next to nothing
  for (auto& each : state["b"] = std::vector<float>(400'000)) each = static_cast<float>(random()) / 3;
  CHECK(at_each(4, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.codecs = {{"*", cairn::codecs::lossless{}}};
          cairn::checkpointer checkpoints(store, options, group);
          for (std::uint64_t step = 1; step <= 2; ++step) checkpoints.save(state, {.step = step});
          checkpoints.save(std::vector<float>(10), {.step = 3});  // another state: its own plan
        }) == std::vector<std::string>(4));
  CHECK(imbalance(store, "step-000000001") > 1.5);
  CHECK(imbalance(store, "step-000000002") < 1.05);
  std::map<std::string, std::vector<float>> restored;
  cairn::load(store, "step-000000002", restored);
  CHECK(restored == state);
}

struct particle {
  std::array<float, 3> at{};
  double mass = 0;
  std::uint16_t kind = 0;

  friend bool operator==(const particle&, const particle&) = default;
};

/// The "runs" of the leaf in the index: shard, first element and so on.
std::string runs_of(const cairn::any_store& store, std::string_view name, const std::string& path) {
  const auto index = sample::get(store, name, "index.json");
  const auto leaf = index.find("{\"path\":\"" + path + "\"");
  const auto begin = index.find("\"runs\":", leaf);
  REQUIRE(begin < index.find('}', leaf));
  return index.substr(begin, index.find(']', begin) - begin);
}

TEST_CASE("the columns of an array of records are cut at the same records, and any number of ranks restores them") {
  std::mt19937_64 random(15);
  struct {
    std::vector<particle> all = std::vector<particle>(100'000);
    std::vector<float> others = std::vector<float>(70'000, 1.0F);
  } state;
  for (auto& each : state.all)
    each = {{1, static_cast<float>(random()), 3}, static_cast<double>(random()), static_cast<std::uint16_t>(random())};
  for (const bool in_background : {false, true}) {
    const cairn::any_store store = cairn::stores::memory();
    CHECK(at_each(4, [&](const cairn::groups::threads& group) {
            auto options = quick();
            options.when = cairn::policies::every_steps{1};
            cairn::checkpointer checkpoints(store, options, group);
            auto own = state;  // at another address
            for (std::uint64_t step = 1; step <= 2; ++step) save_at(checkpoints, own, step, in_background);
          }) == std::vector<std::string>(4));
    for (const auto* name : {"step-000000001", "step-000000002"}) {
      const auto runs = runs_of(store, name, "all.mass");
      CHECK(std::count(runs.begin(), runs.end(), ',') >= 5);  // at least three ranks
      CHECK(runs_of(store, name, "all.kind") == runs);
      CHECK(runs_of(store, name, "all.at") != runs);  // the numbers of elements are three times as large
    }
    for (const unsigned loaded : {1U, 3U, 6U})
      CHECK(at_each(loaded, [&](const cairn::groups::threads& group) {
              cairn::checkpointer checkpoints(store, quick(), group);
              auto restored = state;
              restored.all.assign(5, {});
              require(checkpoints.restore(restored).has_value() && restored.all == state.all, "not restored");
            }) == std::vector<std::string>(loaded));
  }
}

TEST_CASE("ranks write in proportion to their weights") {
  const cairn::any_store store = cairn::stores::memory();
  const std::vector<float> state(1'000'000, 0.5F);
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          auto options = quick();
          options.codecs = {{"*", cairn::codecs::raw()}};
          options.rank_weight = group.rank();  // 0, 1, 2
          cairn::checkpointer checkpoints(store, options, group);
          checkpoints.save(state, {.step = 1});
        }) == std::vector<std::string>(3));
  std::vector<std::uint64_t> megabytes;
  for (const auto& file : store.open("step-000000001")->files())
    if (file != "index.json")
      megabytes.push_back((store.open("step-000000001")->open(file)->size() + 200'000) / 1'000'000);
  CHECK(megabytes == std::vector<std::uint64_t>{0, 1, 2});
  std::vector<float> restored;
  cairn::load(store, "step-000000001", restored);
  CHECK(restored == state);
  const auto what = common(at_each(2, [&](const cairn::groups::threads& group) {
    auto options = quick();
    options.rank_weight = 0;
    cairn::checkpointer checkpoints(store, options, group);
    checkpoints.save(state, {.step = 2});
  }));
  CHECK_THAT(what, ContainsSubstring("weight"));
}

TEST_CASE("options that a group does not have are refused") {
  auto group = cairn::groups::threads::make(2);
  auto options = quick();
  options.shards = 3;
  CHECK_THROWS_WITH(cairn::checkpointer(cairn::stores::memory(), options, group[0]), ContainsSubstring("shards is 3"));
  options.shards = 0;
  options.rank_timeout = std::chrono::milliseconds(0);
  CHECK_THROWS_WITH(cairn::checkpointer(cairn::stores::memory(), options, group[0]), ContainsSubstring("rank_timeout"));
  const sample::scratch scratch;  // for whose lock rank 0 may have to wait for a lease
  const cairn::stores::directory place(scratch.path(), {.lease = std::chrono::seconds(5)});
  options.rank_timeout = std::chrono::seconds(5);
  CHECK_THROWS_WITH(cairn::checkpointer(place, options, group[0]), ContainsSubstring("not above the lease of"));
  options.rank_timeout = std::chrono::seconds(6);
  CHECK_NOTHROW(cairn::checkpointer(place, options, cairn::groups::threads::make(1)[0]));
}

struct with_own_state {
  std::vector<float> weights;
  cairn::per_rank<std::vector<std::string>> files;
  std::map<std::string, cairn::per_rank<std::vector<std::vector<double>>>> caches;
  cairn::per_rank<std::mt19937_64> engine;
  std::uint64_t last = 0;
};

TEST_CASE("each rank saves its own state, and gets it back on the same number of ranks") {
  for (unsigned ranks = 1; ranks <= 5; ++ranks) {
    const cairn::any_store store = cairn::stores::memory();
    const auto state_of = [](unsigned rank) {
      with_own_state made{std::vector<float>(10'000, 0.25F), {}, {}, {std::mt19937_64(rank)}, 77};
      for (unsigned i = 0; i < rank; ++i) made.files.value.push_back(std::to_string(rank) + "/" + std::to_string(i));
      made.caches["a"].value.assign(rank, std::vector<double>(3 * rank, rank));
      return made;
    };
    for (const bool in_background : {true, false})
      CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
              auto options = quick();
              options.when = cairn::policies::every_steps{1};
              cairn::checkpointer checkpoints(store, options, group);
              auto state = state_of(group.rank());
              if (in_background) {
                static_cast<void>(checkpoints.step(state, {.step = 6}));
              } else {
                checkpoints.save(state, {.step = 7});
                checkpoints.save(state, {.step = 8});  // with a plan that knows the bytes of all ranks
              }
            }) == std::vector<std::string>(ranks));
    for (const std::uint64_t step : {6U, 7U, 8U})
      CHECK(at_each(ranks, [&](const cairn::groups::threads& group) {
              cairn::checkpointer checkpoints(store, quick(), group);
              with_own_state state;
              const auto report = checkpoints.restore(state, {.step = step, .sharing = cairn::read_sharing::always});
              require(report && report->missing.empty() && report->unexpected.empty(), "parts are missing");
              const auto wanted = state_of(group.rank());
              require(state.weights == wanted.weights && state.last == 77, "other common state");
              require(state.files.value == wanted.files.value, "other files");
              require(state.caches["a"].value == wanted.caches.at("a").value, "another cache");
              require(state.engine.value == wanted.engine.value, "another engine");
            }) == std::vector<std::string>(ranks));
  }
}

struct with_own_pointers {
  std::shared_ptr<std::vector<float>> common;
  cairn::per_rank<std::vector<std::shared_ptr<std::vector<float>>>> own;
};
struct with_own_pointers_first {
  cairn::per_rank<std::vector<std::shared_ptr<std::vector<float>>>> own;
  std::shared_ptr<std::vector<float>> common;
};

TEST_CASE("pointers of one rank may lead to an object that all have, which comes first") {
  const cairn::any_store store = cairn::stores::memory();
  const auto value_at = [](unsigned rank) { return std::make_shared<std::vector<float>>(3, static_cast<float>(rank)); };
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          cairn::checkpointer checkpoints(store, quick(), group);
          const auto common = value_at(7);
          checkpoints.save(with_own_pointers{common, {{value_at(group.rank()), common}}}, {.step = 1});
        }) == std::vector<std::string>(2));
  CHECK(at_each(2, [&](const cairn::groups::threads& group) {
          cairn::checkpointer checkpoints(store, quick(), group);
          with_own_pointers state;
          require(checkpoints.restore(state) && *state.common == *value_at(7), "another common value");
          require(state.own.value.size() == 2 && *state.own.value[0] == *value_at(group.rank()), "another own value");
          require(state.own.value[1] == state.common, "not shared");
        }) == std::vector<std::string>(2));
  for (const bool in_background : {false, true})
    CHECK_THAT(common(at_each(2,
                              [&](const cairn::groups::threads& group) {
                                auto options = quick();
                                options.when = cairn::policies::every_steps{1};
                                cairn::checkpointer checkpoints(store, options, group);
                                const auto common = value_at(7);
                                const with_own_pointers_first state{{{value_at(group.rank()), common}}, common};
                                save_at(checkpoints, state, 2, in_background);
                              })),
               ContainsSubstring("common is the same object as own.rank0.1, the state of one rank alone"));
}

TEST_CASE("state of one rank without a rule is refused on another number of ranks") {
  const cairn::any_store store = cairn::stores::memory();
  using state_type = std::map<std::string, cairn::per_rank<int>>;
  CHECK(at_each(3, [&](const cairn::groups::threads& group) {
          cairn::checkpointer checkpoints(store, quick(), group);
          checkpoints.save(state_type{{"seed", {static_cast<int>(group.rank())}}}, {.step = 1});
        }) == std::vector<std::string>(3));
  const auto what = common(at_each(2, [&](const cairn::groups::threads& group) {
    cairn::checkpointer checkpoints(store, quick(), group);
    state_type state{{"seed", {7}}};
    checkpoints.restore(state);
  }));
  CHECK_THAT(what, ContainsSubstring("seed is per-rank state saved by 3 ranks, which cannot be loaded on 2"));
  state_type alone{{"seed", {7}}};
  CHECK_THROWS_WITH(cairn::load(store, "step-000000001", alone), ContainsSubstring("saved by 3 ranks"));
}

TEST_CASE("ranks that differ in a size that no array shows throw the same error") {
  const cairn::any_store store = cairn::stores::memory();
  const auto what = common(at_each(2, [&](const cairn::groups::threads& group) {
    cairn::checkpointer checkpoints(store, quick(), group);
    std::map<std::string, std::map<std::string, std::string>> state{{"names", {}}};
    if (group.rank() == 1) state["more"];
    checkpoints.save(state, {.step = 1});
  }));
  CHECK_THAT(what, ContainsSubstring("the ranks differ in the state") && ContainsSubstring("more"));
}

}  // namespace
