// SPDX-License-Identifier: MIT
#include "cairn/each_host.hpp"

#include <csignal>
#include <filesystem>

#include "cairn/encode/lc.hpp"
#include "cairn/levels.hpp"
#include "cairn/levels/joint_copy.hpp"
#include "cairn/load.hpp"
#include "cairn/merge.hpp"
#include "cairn/save.hpp"
#include "catch.hpp"
#include "levels/cluster.hpp"

using kind = cairn::event::kind;
using tests::cluster, tests::ranks, tests::state, tests::state_at, tests::steps, tests::trained;
namespace fs = std::filesystem;

TEST_CASE("each rank saves to its own host, in the background or not, and the newest is restored") {
  for (const bool in_background : {false, true}) {
    INFO(in_background);
    const cluster at;
    at.save({0, 1, 1, 0}, {1, 2, 3}, in_background);
    for (const auto& [host, number, shard] : {std::tuple(0U, 0U, 0), {0, 1, 3}, {1, 0, 1}, {1, 1, 2}}) {
      const auto found = cluster::publications(at.slot(host, number));
      CHECK(found.size() == 3);
      const auto file = "shard-0000" + std::to_string(shard) + "-of-00004.safetensors";
      CHECK(sample::names_in(found.at(3)) == std::vector<std::string>{"index.json", file});
    }
    CHECK(at.restored({0, 1, 1, 0}, 4) == 3);
  }
}

TEST_CASE("other numbers and orders of ranks and hosts restore the same state") {
  cluster at;
  at.options.codecs = {{"*", cairn::codecs::lossless{}}};
  at.save({0, 0, 1, 2}, {7});
  auto on = GENERATE(ranks{0, 1, 2}, ranks{2, 1, 0}, ranks{1, 2, 0, 0}, ranks{0, 1, 2, 2, 2, 2}, ranks{3, 2, 1, 0},
                     ranks{0, 1, 2, 3, 4, 4});
  CHECK(at.restored(on, 4) == 7);
  CHECK(at.restored({2, 0, 1}, 4) == 7);  // again, from what has been copied, too
  at.save(on, {8});
  CHECK(at.restored(on, on.size()) == 8);
}

TEST_CASE("a host that has been copied to restores what others have lost") {
  const cluster at;
  at.save({0, 1}, {4});
  CHECK(at.restored({0, 1}, 2) == 4);
  fs::remove_all(at.root(0));
  CHECK(at.restored({1}, 2) == 4);
  CHECK(at.restored({0, 1}, 2) == 4);
}

TEST_CASE("a checkpoint of which a host is lost is refused, and stays") {
  const cluster at;
  at.save({0, 1, 1}, {1, 2});
  fs::rename(at.root(1), at.scratch.path("away"));
  for (const auto& on : {ranks{0}, ranks{0, 1, 1}, ranks{0, 2}}) {
    const auto thrown = at.run(on, [](cairn::checkpointer& run, unsigned) {
      state now;
      static_cast<void>(run.restore(now));
    });
    for (const auto& each : thrown) {
      CHECK_THAT(each, ContainsSubstring("none of the 2 checkpoints"));
      CHECK_THAT(each, ContainsSubstring("step-000000002: shard-00001-of-00003.safetensors is on no host"));
    }
  }
  fs::remove_all(at.root(1));
  fs::rename(at.scratch.path("away"), at.root(1));
  CHECK(at.restored({0, 1, 1}, 3) == 2);
}

TEST_CASE("retention removes the same checkpoints at all hosts") {
  cluster at;
  at.options.keep_last = 2;
  at.save({0, 1, 1}, {1, 2, 3, 4, 5});
  for (const auto& slot : {at.slot(0, 0), at.slot(1, 0), at.slot(1, 1)}) CHECK(cluster::steps_in(slot) == steps{4, 5});
  CHECK(at.restored({1, 0}, 3) == 5);  // copies the shards
  at.save({1, 0}, {6, 7});
  for (const auto& slot : {at.slot(0, 0), at.slot(1, 0)}) CHECK(cluster::steps_in(slot) == steps{6, 7});
  for (const auto& slot : {at.slot(0, 1), at.slot(1, 1), at.slot(1, 2)}) CHECK(cluster::steps_in(slot).empty());
}

TEST_CASE("remove_after removes at all hosts") {
  const cluster at;
  at.save({0, 1}, {1, 2, 3});
  CHECK(common(at.run({0, 1}, [](cairn::checkpointer& run, unsigned rank) {
          const auto removed = run.remove_after(1);
          require(removed == 2, "another number");
          require(run.steps() == steps{1}, "other steps");
          run.save(state_at(2, rank, 2, 2), {.step = 2});
        })) == "");
  for (const auto& slot : {at.slot(0, 0), at.slot(1, 0)}) CHECK(cluster::steps_in(slot) == steps{1, 2});
}

TEST_CASE("what only some ranks had published when they were killed is no checkpoint") {
  const cluster at;
  at.save({0, 1, 2}, {1, 2});
  const auto published = sample::slurp(at.root(0) + "/published");
  at.save({0, 1, 2}, {3});
  // As if all had been killed before host 1 published step 3.
  for (unsigned host = 0; host < 3; ++host) sample::spill(at.root(host) + "/published", published);
  fs::remove_all(cluster::publications(at.slot(1, 0)).at(3));
  CHECK(at.restored({0, 1, 2}, 3) == 2);
  at.save({0, 1, 2}, {4});
  for (unsigned host = 0; host < 3; ++host) CHECK(cluster::steps_in(at.slot(host, 0)) == steps{1, 2, 4});
}

TEST_CASE("a damaged list of publications hides no loss") {
  const cluster at;
  at.save({0, 1}, {1});
  for (unsigned host = 0; host < 2; ++host) sample::spill(at.root(host) + "/published", "{\"x");
  fs::remove_all(at.slot(1, 0));
  const auto thrown = at.run({0, 1}, [](cairn::checkpointer& run, unsigned) {
    state now;
    static_cast<void>(run.restore(now));
  });
  for (const auto& each : thrown) CHECK_THAT(each, ContainsSubstring("is on no host"));
}

TEST_CASE("killed in its first save, a run begins anew") {
  const cluster at;
  at.save({0, 1}, {1});
  for (unsigned host = 0; host < 2; ++host) fs::remove(at.root(host) + "/published");
  fs::remove_all(at.slot(1, 0));
  CHECK(at.restored({0, 1}, 2) == 0);
}

TEST_CASE("a step that is saved again is there at any time") {
  cluster at;
  at.options.keep_last = 1;
  at.save({0, 1}, {1});
  const auto before = cluster::publications(at.slot(0, 0)).at(1);
  for (unsigned host = 0; host < 2; ++host)
    fs::copy(at.root(host), at.scratch.path("before") + std::to_string(host), fs::copy_options::recursive);
  at.save({0, 1}, {1});
  CHECK(cluster::publications(at.slot(0, 0)).at(1) != before);
  // As if all had been killed before host 1 published it again.
  fs::copy(at.scratch.path("before0"), at.root(0), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  fs::remove_all(at.root(1));
  fs::rename(at.scratch.path("before1"), at.root(1));
  CHECK(at.restored({0, 1}, 2) == 1);
  at.save({0, 1}, {2});
  for (unsigned host = 0; host < 2; ++host) CHECK(cluster::steps_in(at.slot(host, 0)) == steps{2});
}

TEST_CASE("where a rank cannot publish, the save fails at all, and the next one succeeds") {
  for (const bool in_background : {false, true}) {
    cluster at;
    at.options.on_event = [&](const cairn::event& what) {  // of the leader: all have written
      if (what.what == kind::written && what.step == 2) fs::rename(at.slot(1, 0), at.scratch.path("away"));
    };
    const auto thrown = at.run({0, 1, 2}, [&](cairn::checkpointer& run, unsigned rank) {
      const auto save = [&](std::uint64_t step) { save_at(run, state_at(step, rank, 3, 3), step, in_background); };
      save(1);
      try {
        save(2);
      } catch (const cairn::error& cause) {
        require(cause.code() == cairn::errc::io, cause.what());
        require(rank == 1 || cluster::steps_in(at.slot(rank, 0)) == steps{1}, "the failed save is left");
        if (rank == 1) fs::rename(at.scratch.path("away"), at.slot(1, 0));
        save(3);
        require(run.steps() == steps{1, 3}, "other steps");
        return;
      }
      require(false, "nothing is thrown");
    });
    CHECK(common(thrown) == "");
    CHECK(at.restored({0, 1, 2}, 3) == 3);
    for (unsigned host = 0; host < 3; ++host) CHECK(cluster::steps_in(at.slot(host, 0)) == steps{1, 3});
  }
}

TEST_CASE("a damaged shard is passed over at all ranks, wherever it is read") {
  const cluster at;
  at.save({0, 1}, {1, 2});
  const auto file = cluster::publications(at.slot(1, 0)).at(2) + "/shard-00001-of-00002.safetensors";
  auto bytes = sample::slurp(file);
  bytes[bytes.size() - 3] ^= 1;
  sample::spill(file, bytes);
  CHECK(at.restored({0, 1}, 2) == 1);
  fs::resize_file(file, bytes.size() / 2);
  CHECK(at.restored({1, 0}, 2) == 1);
}

TEST_CASE("a delta and what it is built on are copied together") {
  cluster at;
  at.options.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  at.options.chain.anchor_every = std::nullopt;
  at.save({0, 1, 1}, {1, 2, 3});
  CHECK(at.restored({2, 1, 0}, 3) == 3);
  CHECK(cluster::steps_in(at.slot(2, 1)) == steps{1, 2, 3});
}

TEST_CASE("a host that comes back does not bring an abandoned history back") {
  cluster at;
  at.options.on_older_step = cairn::when_older::replace;
  at.save({0}, {1, 2, 3});
  fs::copy(at.root(0), at.scratch.path("h1"), fs::copy_options::recursive);
  CHECK(common(at.run({0}, [](cairn::checkpointer& run, unsigned) {
          state now;
          require(run.restore(now, {.step = 1}).has_value(), "nothing is restored");
          run.save(state_at(2, 0, 1, 1), {.step = 2});
        })) == "");
  CHECK(at.restored({1}, 1) == 3);
  CHECK(at.restored({1, 0}, 1) == 2);
}

TEST_CASE("one process is a group of one") {
  const cluster at;
  cairn::checkpointer run(cairn::each_host(at.root(0)), cairn::checkpointer_options{.keep_last = 2});
  for (std::uint64_t step = 1; step <= 4; ++step) run.save(trained(step), {.step = step});
  CHECK(run.steps() == steps{3, 4});
  tests::trainer now;
  CHECK(run.restore(now).value().step == 4);
  CHECK(now == trained(4));
}

TEST_CASE("what cannot be done on the disks of hosts is refused") {
  const sample::scratch scratch;
  const cairn::each_host where(scratch.path("a"));
  auto options = quick();
  CHECK_THROWS_WITH(cairn::checkpointer(where, options).steps(),
                    ContainsSubstring("cannot be used before the first call"));
  CHECK_THROWS_WITH(cairn::any_store(where).begin("a"), ContainsSubstring("cannot be used before the first call"));
  CHECK_THROWS_WITH(cairn::any_store(where).lock(), ContainsSubstring("cannot be used before the first call"));
  CHECK_THROWS_WITH(cairn::each_host(""), ContainsSubstring("is empty"));
  CHECK_THROWS_WITH(cairn::each_host("s3://bucket/a"), ContainsSubstring("is an address"));
  CHECK_THROWS_WITH((cairn::levels{scratch.path("b"), where}), ContainsSubstring("has to be the first place"));
  options.chain.merge = cairn::merging{.every = 2, .to_whole = true};
  CHECK_THROWS_WITH(cairn::checkpointer(where, options), ContainsSubstring("chain.merge is given"));
}

TEST_CASE("two hosts that see one directory are told so") {
  const cluster at;
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    cairn::checkpointer run(cairn::each_host(at.root(0), {.host = std::to_string(group.rank())}), at.options, group);
    run.save(trained(1), {.step = 1});
  });
  CHECK_THAT(common(thrown), ContainsSubstring("slot-00") && ContainsSubstring("each_host"));
}

TEST_CASE("a second job on the same hosts is refused while the first one runs") {
  const cluster at;
  cairn::checkpointer first(cairn::each_host(at.root(0), {.host = "0"}), at.options);
  first.save(trained(1), {.step = 1});
  for (const auto& each : at.run({0, 1}, [](cairn::checkpointer& run, unsigned) { run.save(trained(2), {.step = 2}); }))
    CHECK_THAT(each, ContainsSubstring("slot-00"));
}

TEST_CASE("copies of all ranks make whole checkpoints at the next place") {
  const bool in_background = GENERATE(false, true);
  cluster at;
  at.has_far = true;
  at.options.rank_timeout = std::chrono::seconds(200);
  at.options.keep_last = 2;
  at.save({0, 1, 1}, {1, 2, 3}, in_background);
  CHECK(cluster::steps_in(at.slot(1, 1)) == steps{2, 3});
  tests::trainer alone;
  cairn::load_options common_alone;
  common_alone.filter = [](std::string_view path) { return path.starts_with("common"); };
  struct {
    tests::trainer common;
  } now;
  CHECK(cairn::load(at.far(), now, common_alone).step == 3);
  CHECK(now.common == trained(3, 3000));
  for (const auto& on : {ranks{0, 1, 1}, ranks{2, 3}}) {
    for (unsigned host = 0; host < 4; ++host) fs::remove_all(at.root(host));
    CHECK(at.restored(on, 3) == 3);
  }
  at.save({1, 0}, {4});
  CHECK(at.restored({0, 1}, 2) == 4);
}

TEST_CASE("a restore takes the newest of the disks of the hosts and the next place") {
  cluster at;
  at.has_far = true;
  at.how.every = std::chrono::hours(1);
  at.options.rank_timeout = std::chrono::seconds(200);
  CHECK(common(at.run({0, 1, 2}, [](cairn::checkpointer& run, unsigned rank) {
          run.save(state_at(1, rank, 3, 3), {.step = 1});
          for (std::uint64_t step = 2; step <= 3; ++step) {
            static_cast<void>(run.step(state_at(step, rank, 3, 3), {.step = step}));
            run.wait();
          }
        })) == "");
  CHECK(at.restored({0, 1, 2}, 3) == 3);
  fs::remove_all(at.root(1));
  for (unsigned host = 0; host < 3; host += 2) fs::remove_all(at.slot(host, 1));  // what the restore has brought
  CHECK(at.restored({0, 1, 2}, 3) == 1);
  CHECK(common(at.run({0, 1, 2}, [](cairn::checkpointer& run, unsigned rank) {
          state now;
          require(run.restore(now).value().level == 1, "another level");
          run.save(state_at(2, rank, 3, 3), {.step = 2});
        })) == "");
  CHECK(at.restored({2, 0, 1}, 3) == 2);
}

TEST_CASE("a copy that fails at a rank fails the save at all, and the next one is made") {
  cluster at;
  at.has_far = true;
  at.options.rank_timeout = std::chrono::seconds(200);
  const auto shard = [&] { return cluster::publications(at.slot(1, 0)).at(1) + "/shard-00001-of-00002.safetensors"; };
  at.options.on_event = [&](const cairn::event& what) {
    if (what.what == kind::published && what.step == 1 && fs::exists(shard()))
      fs::rename(shard(), at.scratch.path("away"));
  };
  const auto thrown = at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
    try {
      run.save(state_at(1, rank, 2, 2), {.step = 1});
      require(false, "nothing is thrown");
    } catch (const cairn::error& cause) {
      require(std::string_view(cause.what()).find("rank 1: /") != std::string_view::npos, cause.what());
    }
    require(run.steps() == steps{1}, "other steps");
    run.save(state_at(2, rank, 2, 2), {.step = 2});
  });
  CHECK(common(thrown) == "");
  CHECK(cairn::stores::directory(at.far()).list() == std::vector<std::string>{"step-000000002"});
}

TEST_CASE("after a signal a step waits for the copies of all ranks") {
  cluster at;
  at.options.preempt = {SIGUSR2};
  at.has_far = true;
  at.how.max_bytes_per_second = 1;  // which then does not hold
  at.options.rank_timeout = std::chrono::seconds(200);
  CHECK(common(at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
          for (std::uint64_t step = 1; step <= 3; ++step) {
            if (step == 3 && rank == 1) raise(SIGUSR2);
            const auto outcome = run.step(state_at(step, rank, 2, 2), {.step = step});
            if (outcome.stop) return;
          }
          require(run.step(state_at(4, rank, 2, 2), {.step = 4}).stop, "no stop");
        })) == "");
  CHECK(cairn::stores::directory(at.far()).list().size() == 1);
  for (const unsigned host : {0U, 1U}) fs::remove_all(at.root(host));
  CHECK(at.restored({0, 1}, 2) >= 3);
}

TEST_CASE("with partners, each loss of hosts without both of a pair is survived") {
  const auto [on, hosts] =
      GENERATE(std::pair(ranks{0, 1}, 2U), std::pair(ranks{0, 1, 1, 2, 2, 2}, 3U), std::pair(ranks{3, 2, 1, 0, 0}, 4U));
  const bool in_background = GENERATE(false, true);
  const sample::scratch kept;
  cluster at;
  at.has_partners = true;
  at.options.keep_last = 2;
  at.save(on, {1, 2, 3}, in_background);
  for (unsigned host = 0; host < hosts; ++host)
    fs::copy(at.root(host), kept.path("h" + std::to_string(host)), fs::copy_options::recursive);
  std::vector<unsigned> numbers;  // by host, as the group numbers them
  for (const auto host : on)
    if (std::ranges::count(numbers, host) == 0) numbers.push_back(host);
  for (unsigned lost = 0; lost < 1U << hosts; ++lost) {
    bool survives = true;
    for (unsigned i = 0; i < hosts; ++i) {
      fs::remove_all(at.root(i));
      fs::copy(kept.path("h" + std::to_string(i)), at.root(i), fs::copy_options::recursive);
      survives = survives && ((lost >> i & 1U) == 0 || (lost >> cairn::detail::partner_of(i, hosts) & 1U) == 0);
    }
    for (unsigned i = 0; i < hosts; ++i)
      if ((lost >> i & 1U) != 0) fs::remove_all(at.root(numbers[i]));
    INFO(lost);
    const auto thrown = at.run(on, [&](cairn::checkpointer& run, unsigned rank) {
      state now;
      const auto report = run.restore(now);
      require(report.has_value() && report->step == 3, "another step");
      require(now == state_at(3, rank, on.size(), on.size()), "another state");
    });
    const bool is_empty = lost + 1 == 1U << hosts;
    for (const auto& each : thrown)
      if (survives)
        CHECK(each == "");
      else if (is_empty)
        CHECK(each == "another step");
      else
        CHECK_THAT(each, ContainsSubstring("is on no host"));
  }
}

TEST_CASE("retention holds for the copies at partners, too, and those who left them are found") {
  cluster at;
  at.has_partners = true;
  at.options.keep_last = 2;
  at.save({0, 0, 1}, {1, 2, 3});
  for (const auto* slot : {"/others-00", "/others-01"}) CHECK(cluster::steps_in(at.root(0) + slot).size() <= 2);
  CHECK(cluster::steps_in(at.root(0) + "/others-00") == steps{2, 3});
  CHECK(cluster::steps_in(at.root(1) + "/others-00") == steps{2, 3});
  at.has_partners = false;
  fs::remove_all(at.slot(1, 0));
  CHECK(at.restored({1, 0}, 3) == 3);
  at.save({1, 0}, {4, 5});
  for (unsigned host = 0; host < 2; ++host)
    for (const auto& slot : fs::directory_iterator(at.root(host))) {
      if (!slot.is_directory()) continue;
      const auto there = cluster::steps_in(slot.path());
      CHECK((there.empty() || there == steps{4, 5}));
    }
}

TEST_CASE("a copy at a partner that fails is an event, and the save succeeds") {
  cluster at;
  at.has_partners = true;
  std::atomic<unsigned> failed{0}, sent{0};
  at.options.on_event = [&](const cairn::event& what) {
    if (what.what == kind::published && what.step == 2 && fs::exists(at.root(1) + "/others-00"))
      fs::rename(at.root(1) + "/others-00", at.scratch.path("away"));
    if (what.what == kind::failed) ++failed;
    if (what.what == kind::promoted) ++sent;
  };
  CHECK(common(at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
          for (std::uint64_t step = 1; step <= 2; ++step) save_at(run, state_at(step, rank, 2, 2), step, false);
        })) == "");
  CHECK(failed >= 1);
  CHECK(sent >= 2);
  at.options.on_event = nullptr;
  CHECK(at.restored({0, 1}, 2) == 2);
}

TEST_CASE("a job on one host has no partners, and is told so") {
  cluster at;
  at.has_partners = true;
  std::atomic<unsigned> told{0};
  at.options.on_event = [&](const cairn::event& what) {
    if (what.what == kind::unmatched && what.message.find("all ranks are on one host") != what.message.npos) ++told;
  };
  at.save({0, 0}, {1, 2});
  CHECK(told == 2);  // each rank
  CHECK(at.restored({0, 1}, 2) == 2);
  CHECK(told == 2);
}

TEST_CASE("a group that cannot send messages has no partners") {
  struct silent_group {
    cairn::groups::threads of;
    [[nodiscard]] unsigned rank() const { return of.rank(); }
    [[nodiscard]] unsigned size() const { return of.size(); }
    cairn::groups::started start_max(std::span<const std::uint64_t> numbers) { return of.start_max(numbers); }
    cairn::groups::started start_broadcast(std::span<const std::byte> bytes, std::size_t size, unsigned root) {
      return of.start_broadcast(bytes, size, root);
    }
    cairn::groups::started start_gather(std::span<const std::byte> bytes, unsigned root) {
      return of.start_gather(bytes, root);
    }
    std::vector<unsigned> roll_call(std::chrono::milliseconds limit) { return of.roll_call(limit); }
  };
  static_assert(cairn::group<silent_group> && !cairn::messaging_group<silent_group>);
  cluster at;
  at.has_partners = true;
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    cairn::checkpointer run(at.store(group.rank()), at.options, silent_group{group});
    run.save(trained(1), {.step = 1});
  });
  CHECK_THAT(common(thrown), ContainsSubstring("cannot send messages"));
}

TEST_CASE("ranks of one host with different directories are refused") {
  const cluster at;
  const auto thrown = at_each(3, [&](const cairn::groups::threads& group) {
    cairn::checkpointer run(cairn::each_host(at.root(group.rank()), {.host = "one"}), at.options, group);
    run.save(trained(1), {.step = 1});
  });
  CHECK_THAT(common(thrown), ContainsSubstring("ranks 0 and 1 are on one host, but their directories"));
}

TEST_CASE("an each_host is for one rank, and for one checkpointer at a time") {
  const cluster at;
  const cairn::each_host where(at.root(0), {.host = "one"});
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    cairn::checkpointer run(where, at.options, group);
    run.save(trained(1), {.step = 1});
  });
  CHECK_THAT(common(thrown), ContainsSubstring("is in use by another checkpointer"));
  for (std::uint64_t step = 1; step <= 2; ++step) {
    cairn::checkpointer run(where, at.options);
    run.save(trained(step), {.step = step});
    CHECK(run.steps().size() == step);
  }
}

TEST_CASE("two checkpointers of one group are told apart on hosts, too") {
  const cluster at;
  const auto thrown = at_each(2, [&](const cairn::groups::threads& group) {
    const auto host = std::to_string(group.rank());
    cairn::checkpointer first(cairn::each_host(at.root(group.rank()), {.host = host}), at.options, group);
    cairn::checkpointer second(cairn::each_host(at.scratch.path("other" + host), {.host = host}), at.options, group);
    first.save(trained(1), {.step = 1});
    second.save(trained(1), {.step = 1});
    (group.rank() == 0 ? first : second).save(trained(2), {.step = 2});
  });
  for (const auto& each : thrown)
    CHECK_THAT(each, ContainsSubstring("the ranks differ in the checkpointer of the call"));
}

TEST_CASE("where a host cannot write its list of publications, the rest is removed all the same") {
  cluster at;
  at.options.keep_last = 1;
  std::atomic<unsigned> failed{0};
  at.options.on_event = [&](const cairn::event& what) {
    if (what.what == kind::failed) ++failed;
  };
  fs::create_directories(at.root(1) + "/.published");
  at.save({0, 1}, {1, 2, 3});
  CHECK(failed > 0);
  CHECK(cluster::steps_in(at.slot(1, 0)) == steps{3});
  CHECK(at.restored({0, 1}, 2) == 3);
}

TEST_CASE("an empty list of publications hides no loss") {
  const cluster at;
  at.save({0, 1}, {1});
  for (unsigned host = 0; host < 2; ++host) sample::spill(at.root(host) + "/published", "");
  fs::remove_all(at.slot(1, 0));
  const auto thrown = at.run({0, 1}, [](cairn::checkpointer& run, unsigned) {
    state now;
    static_cast<void>(run.restore(now));
  });
  for (const auto& each : thrown) CHECK_THAT(each, ContainsSubstring("is on no host"));
}

TEST_CASE("a damaged index is not taken where another slot has a copy") {
  const cluster at;
  at.save({0, 1}, {1});
  CHECK(at.restored({0, 1}, 2) == 1);  // both have all now
  sample::spill(cluster::publications(at.slot(1, 0)).at(1) + "/index.json", "{\"metadata\":");
  CHECK(at.restored({0, 1}, 2) == 1);
  CHECK(at.restored({1, 2}, 2) == 1);
  CHECK(at.restored({2, 1, 0}, 2) == 1);
}

TEST_CASE("retention does not count a checkpoint whose shards are lost") {
  cluster at;
  at.options.keep_last = 3;
  at.save({0, 1}, {1, 2, 3});
  fs::remove_all(cluster::publications(at.slot(1, 0)).at(2));
  CHECK(at.restored({0, 1}, 2) == 3);
  at.save({0, 1}, {4});
  CHECK(cluster::steps_in(at.slot(0, 0)) == steps{1, 3, 4});
}

TEST_CASE("a run that goes back removes at all hosts what it leaves behind") {
  cluster at;
  at.options.on_older_step = cairn::when_older::replace;
  at.save({0, 1}, {1, 2, 3});
  CHECK(common(at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
          state now;
          require(run.restore(now, {.step = 1}).has_value(), "nothing is restored");
          run.save(state_at(2, rank, 2, 2), {.step = 2});
          require(run.steps() == steps{1, 2}, "other steps");
        })) == "");
  for (unsigned host = 0; host < 2; ++host) CHECK(cluster::steps_in(at.slot(host, 0)) == steps{1, 2});
  CHECK(at.restored({0, 1}, 2) == 2);
}

TEST_CASE("a host that has no room for the shards of others restores from the next place") {
  cluster at;
  at.has_far = true;
  at.options.rank_timeout = std::chrono::seconds(200);
  at.save({0, 1}, {1});
  fs::create_directories(at.slot(1, 1));
  const auto there = cluster::publications(at.slot(1, 0)).at(1);
  sample::spill(at.slot(1, 1) + there.substr(there.rfind('/')), "in the way");
  std::atomic<unsigned> level{0};
  CHECK(common(at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
          state now;
          level += static_cast<unsigned>(run.restore(now).value().level);
          require(now == state_at(1, rank, 2, 2), "another state");
        })) == "");
  CHECK(level == 2);
}

TEST_CASE("a shard of another publication is not copied") {
  const sample::scratch scratch;
  cairn::any_store near = cairn::stores::directory(scratch.path("near")),
                   far = cairn::stores::directory(scratch.path("far"));
  cairn::save(near, "a", trained(1));
  const auto all =
      std::make_shared<cairn::detail::level_list>(std::vector<cairn::level>{cairn::level(near), cairn::level(far)});
  const cairn::checkpointer_options options;
  cairn::detail::joint_copy joint(*all, options, 1, 2);
  const auto ask = [&](std::uint64_t number, std::uint64_t index) {
    const auto made = far.begin("a");
    joint.requested(cairn::detail::to_json(cairn::detail::copy_request{number, 1, "a", made->attempt(), index}));
    while (joint.done() != number) std::this_thread::yield();
    return joint.failure();
  };
  const auto text = sample::slurp(scratch.path("near/a/index.json"));
  CHECK_THAT(ask(1, 7), ContainsSubstring("has been published again"));
  CHECK(ask(2, cairn::detail::checksum(std::as_bytes(std::span(text)))).empty());
}

TEST_CASE("retention keeps the newest checkpoint that is at the partners") {
  cluster at;
  at.has_partners = true;
  at.options.keep_last = 1;
  at.save({0, 1}, {1});
  sample::spill(at.root(1) + "/others-00/blocked", "");
  const auto blocks = [&](bool are_blocked) {  // a file in the place of what host 1 receives next
    if (are_blocked)
      fs::rename(at.root(1) + "/others-00", at.scratch.path("away"));
    else
      fs::rename(at.scratch.path("away"), at.root(1) + "/others-00");
  };
  at.options.on_event = [&](const cairn::event& what) {
    if (what.what == kind::published && what.step > 1 && fs::exists(at.root(1) + "/others-00")) blocks(true);
  };
  at.save({0, 1}, {2, 3});
  at.options.on_event = nullptr;
  blocks(false);
  CHECK(cluster::steps_in(at.slot(0, 0)) == steps{1, 3});
  fs::remove_all(at.root(0));
  CHECK(at.restored({0, 1}, 2) == 1);
  at.save({0, 1}, {4});
  CHECK(cluster::steps_in(at.slot(1, 0)) == steps{4});
}

TEST_CASE("after a loss, retention keeps what was restored until a later checkpoint is at the partners") {
  cluster at;
  at.has_partners = true;
  at.options.keep_last = 1;
  at.save({0, 1}, {1});
  fs::remove_all(at.root(1));
  at.options.on_event = [&](const cairn::event& what) {  // host 0 receives nothing
    if (what.what == kind::published && what.step == 2 && fs::exists(at.root(0) + "/others-00"))
      fs::rename(at.root(0) + "/others-00", at.scratch.path("away"));
  };
  CHECK(common(at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
          state now;
          require(run.restore(now).has_value(), "nothing");
          save_at(run, state_at(2, rank, 2, 2), 2, false);
        })) == "");
  at.options.on_event = nullptr;
  fs::rename(at.scratch.path("away"), at.root(0) + "/others-00");
  fs::remove_all(at.root(1));
  CHECK(at.restored({0, 1}, 2) == 1);
}

TEST_CASE("the plan of retention can be asked for while copies are sent to partners") {
  cluster at;
  at.has_partners = true;
  at.options.keep_last = 2;
  CHECK(common(at.run({0, 1}, [&](cairn::checkpointer& run, unsigned rank) {
          for (std::uint64_t step = 1; step <= 8; ++step) {
            static_cast<void>(run.step(state_at(step, rank, 2, 2), {.step = step}));
            static_cast<void>(run.retention_plan());
          }
        })) == "");
}

TEST_CASE("two checkpointers of one group send to partners at the same time") {
  const cluster at;
  auto options = at.options;
  CHECK(common(at_each(2, [&](const cairn::groups::threads& group) {
          const auto host = std::to_string(group.rank());
          const auto where = [&](const std::string& name) {
            return cairn::each_host(at.scratch.path(name + host), {.host = host, .partner = true});
          };
          cairn::checkpointer first(where("a"), options, group), second(where("b"), options, group);
          for (std::uint64_t step = 1; step <= 6; ++step) {
            static_cast<void>(first.step(state_at(step, group.rank(), 2, 2), {.step = step}));
            static_cast<void>(second.step(trained(100 + step, 900), {.step = step}));
          }
          first.wait();
          second.wait();
        })) == "");
  for (const std::string name : {"a0", "b0"}) fs::remove_all(at.scratch.path(name));
  CHECK(common(at_each(2, [&](const cairn::groups::threads& group) {
          const auto host = std::to_string(group.rank());
          cairn::checkpointer first(cairn::each_host(at.scratch.path("a" + host), {.host = host}), options, group);
          cairn::checkpointer second(cairn::each_host(at.scratch.path("b" + host), {.host = host}), options, group);
          state a;
          tests::trainer b;
          const auto step = first.restore(a).value().step, other = second.restore(b).value().step;
          require(a == state_at(step, group.rank(), 2, 2), "another state of the first");
          require(b == trained(100 + other, 900), "another state of the second");
        })) == "");
}

TEST_CASE("some ranks may use their each_host again, with others that have a new one") {
  const cluster at;
  std::vector<cairn::each_host> used;
  for (unsigned host = 0; host < 2; ++host)
    used.emplace_back(at.root(host), cairn::each_host_options{.host = std::to_string(host)});
  for (std::uint64_t step = 1; step <= 2; ++step)
    CHECK(common(at_each(2, [&](const cairn::groups::threads& group) {
            const auto rank = group.rank();
            const cairn::each_host fresh(at.root(rank), {.host = std::to_string(rank)});
            cairn::checkpointer run(step == 2 && rank == 1 ? fresh : used[rank], at.options, group);
            run.save(state_at(step, rank, 2, 2), {.step = step});
          })) == "");
  CHECK(at.restored({0, 1}, 2) == 2);
}

TEST_CASE("an each_host that is used again writes its list of publications again") {
  const cluster at;
  const cairn::each_host where(at.root(0), {.host = "one"});
  for (int i = 0; i < 2; ++i) {
    {
      cairn::checkpointer run(where, at.options);
      run.save(trained(1), {.step = 1});
    }
    CHECK(fs::exists(at.root(0) + "/published"));
    fs::remove(at.root(0) + "/published");
  }
}
