// SPDX-License-Identifier: MIT
// What a second place for checkpoints costs the training, how fast checkpoints go to a bucket and come back, and how
// fast ranks save to the disks of their hosts, to partners, and with parity.
#include "cairn/levels.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/each_host.hpp"
#include "cairn/group/threads.hpp"
#include "cairn/levels/host_slots.hpp"
#include "cairn/load.hpp"
#include "cairn/parity.hpp"
#include "cairn/s3.hpp"
#include "cairn/store/directory.hpp"
#include "common/arguments.hpp"
#include "common/clock.hpp"
#include "common/interleave.hpp"
#include "common/report.hpp"
#include "common/settle.hpp"
#include "common/statistics.hpp"
#include "common/work_directory.hpp"
#include "levels/bucket.hpp"
#include "levels/parity.hpp"
#include "levels/plain_ranks.hpp"
#include "stall/trainer.hpp"

namespace {

using namespace bench;

constexpr std::string_view usage =
    "levels [--state 1024] [--repetitions 5] [--directory .] [--bucket NAME] [--json FILE] [--quick yes] [--wait 5]\n"
    "  --state        MiB of the state that goes to the bucket, and of 4 ranks; half is copied beside the training\n"
    "  --repetitions  of every measurement\n"
    "  --directory    where the checkpoints go, in a new directory that is deleted afterwards\n"
    "  --bucket       of the server AWS_ENDPOINT_URL_S3; CAIRN_S3_BUCKET by default; without one nothing is sent\n"
    "  --quick        yes: 64 MiB, 2 repetitions\n"
    "  --wait         seconds to wait at most for idle cores before a measurement; 0: not at all\n";

struct settings {
  std::size_t mib, repetitions;
  std::string directory, bucket;
  std::chrono::duration<double> patience;
};

/// `step` while nothing is due and no copy is under way, over one without levels.
void measure_steps(const settings& how, report& to) {
  const auto state = trained_state(1);
  struct contender {
    cairn::checkpointer run;
    std::uint64_t step = 0;
    std::vector<double> nanoseconds{};
  };
  const auto options = [] {
    return cairn::checkpointer_options{.when = cairn::policies::every_steps{std::uint64_t{1} << 40U}};
  };
  contender all[] = {{cairn::checkpointer(how.directory + "/one", options())},
                     {cairn::checkpointer(cairn::levels{how.directory + "/near", how.directory + "/far"}, options())}};
  for (auto& each : all) {
    each.run.save(state, {.step = 0});
    static_cast<void>(each.run.step(state, {.step = ++each.step}));
    each.run.wait();
  }
  settle(0, how.patience);
  interleave(std::span<contender>(all), 10 * how.repetitions, [&](contender& each, std::size_t) {
    constexpr int steps = 20'000;
    each.nanoseconds.push_back(1e9 / steps * seconds_of([&] {
                                 for (int i = 0; i < steps; ++i)
                                   static_cast<void>(each.run.step(state, {.step = ++each.step}));
                               }));
  });
  to.number("levels.step_ns", median(all[1].nanoseconds));
  to.at_most("levels.step_extra", median_ratio(all[1].nanoseconds, all[0].nanoseconds), 1.1);
}

/// Iterations that keep two cores busy, beside a copy of 200 MB/s to another directory, over those alone.
void measure_slowdown(const settings& how, report& to) {
  training_state parts[] = {trained_state(32), trained_state(32)};
  std::uint64_t iteration = 0;
  const auto iterate = [&] {
    ++iteration;
    std::thread other([&] { compute_and_rewrite(parts[1], iteration); });
    compute_and_rewrite(parts[0], iteration);
    other.join();
  };
  const auto state = trained_state(how.mib / 2);
  std::vector<double> alone, beside;
  for (std::size_t i = 0; i < how.repetitions; ++i) {
    const auto near = how.directory + "/near" + std::to_string(i), far = how.directory + "/far" + std::to_string(i);
    settle(0, how.patience);
    constexpr int few = 10;
    iterate();
    alone.push_back(seconds_of([&] {
                      for (int k = 0; k < few; ++k) iterate();
                    }) /
                    few);
    cairn::checkpointer run(
        cairn::levels{near, cairn::level{far, {.every = std::chrono::seconds(0), .max_bytes_per_second = 200e6}}},
        {.when = cairn::policies::every_steps{1}});
    static_cast<void>(run.step(state, {.step = 1}).save.get());
    int count = 0;
    const auto seconds = seconds_of([&] {
      for (; run.stats().levels[0].copies == 0; ++count) iterate();
    });
    if (count < 3) throw std::runtime_error("the copy took less than three iterations: use a larger --state");
    beside.push_back(seconds / count);
    std::filesystem::remove_all(near);
    std::filesystem::remove_all(far);
  }
  to.number("levels.iteration_ms", 1e3 * median(alone));
  to.at_most("levels.slowdown", median_ratio(beside, alone), 1.10);
}

/// Saves of four ranks to their hosts, here four directories, and then copies at partners, or parity; with that the
/// restore of a state that all ranks have, of which a host is lost, without reading the state: over the same by hand.
void measure_hosts(const settings& how, report& to) {
  constexpr unsigned ranks = plain_ranks::ranks;
  constexpr std::size_t unit = std::size_t{12} << 20U;  // see plain_ranks
  const auto share = std::max<std::size_t>(how.mib / ranks / 12, 1) * unit;
  const auto state = trained_state(share * ranks >> 20U);  // of which each rank writes a quarter
  plain_ranks peer(how.directory, share);
  const auto root = [&](unsigned rank) { return how.directory + "/host" + std::to_string(rank); };
  const auto at_each = [&](const auto& act) {
    auto group = cairn::groups::threads::make(ranks);
    std::barrier meet(std::ptrdiff_t{ranks});
    std::vector<std::jthread> all;
    for (unsigned rank = 0; rank < ranks; ++rank)
      all.emplace_back([&, rank, own = group[rank]]() mutable { act(std::move(own), rank, meet); });
    group.clear();
  };
  const auto options_of = [](unsigned rank, bool has_parity) {
    cairn::each_host_options made{.host = std::to_string(rank), .partner = !has_parity};
    if (has_parity) made.parity = cairn::parity{};
    return made;
  };
  std::vector<double> saved[2], copied[2], encoded[2], restored[2];
  for (std::size_t i = 0; i < how.repetitions; ++i)
    for (const bool has_parity : {false, true}) {
      std::vector<double> published(ranks), sent(ranks), brought(ranks);
      at_each([&](cairn::groups::threads group, unsigned rank, auto& meet) {
        double began = 0;
        cairn::checkpointer_options options{.when = cairn::policies::every_steps{1}};
        options.on_event = [&](const cairn::event& what) {
          if (what.what == cairn::event::kind::published) published[rank] = clock_seconds() - began;
          if (what.what == cairn::event::kind::promoted) sent[rank] = clock_seconds() - began;
        };
        cairn::checkpointer run(cairn::each_host(root(rank), options_of(rank, has_parity)), options, std::move(group));
        run.save(std::vector<float>(1), {.step = 1});  // locks, and learns what is there
        meet.arrive_and_wait();
        began = clock_seconds();
        run.save(state, {.step = 2});
      });
      const auto seconds = std::ranges::max(published);
      (has_parity ? encoded : copied)[0].push_back(std::ranges::max(sent) - seconds);
      if (!has_parity) saved[0].push_back(seconds);
      const auto plain = peer.save();
      if (!has_parity) saved[1].push_back(plain);
      (has_parity ? encoded : copied)[1].push_back(has_parity ? peer.encode() : peer.exchange());
      if (has_parity) {
        std::filesystem::remove_all(root(ranks - 1));
        at_each([&](cairn::groups::threads group, unsigned rank, auto&) {
          cairn::detail::team team(std::move(group), std::chrono::hours(1));
          cairn::detail::host_slots slots(root(rank), options_of(rank, true));
          const auto held = slots.meet(team);
          const auto began = clock_seconds();
          slots.bring(cairn::detail::checkpoint_name(2), team);
          brought[rank] = clock_seconds() - began;
        });
        restored[0].push_back(std::ranges::max(brought));
        restored[1].push_back(peer.rebuild());
      }
      for (unsigned rank = 0; rank < ranks; ++rank) std::filesystem::remove_all(root(rank));
    }
  const auto gb = static_cast<double>(share * ranks) / 1e9;
  to.number("levels.near_gb_s", gb / median(saved[0]));
  to.number("levels.partner_gb_s", gb / median(copied[0]));
  to.number("levels.parity_gb_s", gb / median(encoded[0]));
  to.number("levels.rebuild_gb_s", gb / median(restored[0]));
  to.at_least("levels.near_over_plain", median_ratio(saved[1], saved[0]), 0.85);
  to.at_least("levels.partner_over_plain", median_ratio(copied[1], copied[0]), 0.8);
  to.at_least("levels.parity_over_plain", median_ratio(encoded[1], encoded[0]), 0.75);
  to.at_least("levels.rebuild_over_plain", median_ratio(restored[1], restored[0]), 0.7);
}

/// A copy of a checkpoint to a bucket, and a load of it from there, over the same bytes by plain libcurl.
void measure_bucket(const settings& how, report& to) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  if (how.bucket.empty()) {
    to.at_least("levels.upload_over_curl", nan, 0.9);
    to.at_least("levels.download_over_curl", nan, 0.8);
    return;
  }
  const plain_bucket peer{how.bucket};
  auto state = trained_state(how.mib);
  const auto near = how.directory + "/near";
  std::vector<double> up[2], down[2];
  double bytes = 0;
  for (std::size_t i = 0; i < how.repetitions; ++i) {
    const std::string key = "bench-levels/peer-" + std::to_string(i);
    const cairn::stores::s3 bucket("s3://" + how.bucket + "/bench-levels/" + std::to_string(i));
    cairn::checkpointer run(cairn::levels{near, cairn::level{bucket, {.every = std::chrono::hours(9)}}}, {.shards = 1});
    const auto saved = run.save(state, {.step = i + 1});  // also to the bucket
    bytes = static_cast<double>(saved.bytes);
    up[0].push_back(run.stats().levels[0].last_seconds);
    std::vector<std::byte> plain(saved.bytes);
    const auto sends = [&] { peer.upload(key, plain, std::size_t{16} << 20U); };
    up[1].push_back(seconds_of(sends));
    // In one pass, as a checkpointer restores.
    const auto loads = [&] { cairn::load(cairn::any_store(bucket), state, {.verify_first = false}); };
    const auto receives = [&] { peer.download(key, plain, std::size_t{8} << 20U); };
    down[i % 2].push_back(i % 2 == 0 ? seconds_of(loads) : seconds_of(receives));
    down[1 - i % 2].push_back(i % 2 == 0 ? seconds_of(receives) : seconds_of(loads));
    peer.remove(key);
    static_cast<void>(run.remove_after(0));
  }
  to.number("levels.upload_gb_s", bytes / 1e9 / median(up[0]));
  to.number("levels.download_gb_s", bytes / 1e9 / median(down[0]));
  to.at_least("levels.upload_over_curl", median_ratio(up[1], up[0]), 0.9);
  to.at_least("levels.download_over_curl", median_ratio(down[1], down[0]), 0.8);
}

}  // namespace

int main(int argc, char** argv) try {
  const arguments options(argc, argv,
                          {{"state", "1024"},
                           {"repetitions", "5"},
                           {"directory", "."},
                           {"bucket", std::getenv("CAIRN_S3_BUCKET") != nullptr ? std::getenv("CAIRN_S3_BUCKET") : ""},
                           {"json", ""},
                           {"quick", ""},
                           {"wait", "5"}},
                          usage);
  const bool is_quick = options.text("quick") == "yes";
  const work_directory work(options.text("directory"), "levels");
  const settings how{is_quick ? 64 : options.positive("state"), is_quick ? 2 : options.positive("repetitions"),
                     work.path().string(), options.text("bucket"),
                     std::chrono::duration<double>(options.number("wait"))};
  report all;
  measure_steps(how, all);
  measure_slowdown(how, all);
  measure_hosts(how, all);
  measure_parity(how.repetitions, all);
  measure_bucket(how, all);
  all.print_figures();
  all.write_json(options.file("json"));
} catch (const std::exception& error) {
  std::fprintf(stderr, "levels: %s\n", error.what());
  return 1;
}
