// SPDX-License-Identifier: MIT
// A group, whose ranks are threads of one process, saves to the disks of its hosts, and sends to partners, keeps
// parity, or copies to a place that all see. It is killed at sampled system calls: what it had published is there, also
// if a host is lost then and there is one of these, and the next group goes on from it.
#include <iostream>

#include "catch.hpp"
#include "durability/scenarios.hpp"
#include "durability/tracer.hpp"
#include "levels/cluster.hpp"
#ifdef CAIRN_TEST_PARITY
#include "cairn/parity.hpp"
#endif

using tests::cluster, tests::ranks, tests::state, tests::state_at;

namespace {

struct testimony {
  std::atomic<std::uint64_t> published{0}, before{0}, copied{0};  // `before`: the one published before
};

enum class redundancy { none, far, partners, parity };
const std::vector<redundancy> kinds{redundancy::none, redundancy::far, redundancy::partners,
#ifdef CAIRN_TEST_PARITY
                                    redundancy::parity
#endif
};

/// A group of three ranks.
struct trained_cluster : cluster {
  ranks on{0, 1, 1};
  redundancy kind;

  explicit trained_cluster(redundancy chosen) : kind(chosen) {
    has_far = kind == redundancy::far;
    has_partners = kind == redundancy::partners;
    if (kind == redundancy::parity) on = {0, 1, 2};
#ifdef CAIRN_TEST_PARITY
    if (kind == redundancy::parity) parity = cairn::parity{.hosts = 3, .lost = 1};
#endif
    options.keep_last = 2;
    options.rank_timeout = std::chrono::seconds(200);
  }
};

/// Restores the newest checkpoint, and saves the next three steps: the last one twice.
void train(const trained_cluster& at) {
  const auto& on = at.on;
  const auto thrown = at.run(on, [&on](cairn::checkpointer& run, unsigned rank) {
    state now;
    const auto report = run.restore(now);
    const auto first = report ? report->step + 1 : 1;
    for (std::uint64_t step = first; step < first + 3; ++step)
      static_cast<void>(run.step(state_at(step, rank, on.size(), on.size()), {.step = step}));
    run.save(state_at(first + 2, rank, on.size(), on.size()), {.step = first + 2});
  });
  for (const auto& each : thrown)
    if (!each.empty()) throw std::runtime_error(each);
}

/// What is wrong with what a killed group has left; empty: nothing.
std::string after_the_kill(const trained_cluster& at, const testimony& told, bool loses_host) {
  std::uint64_t least = told.published;
  if (loses_host) {  // all has been sent to other hosts when the next one is published
    least = at.has_far ? told.copied.load() : told.before.load();
    std::filesystem::remove_all(at.root(1));
  }
  least = std::max<std::uint64_t>(2, least);
  const auto restored = at.restored(at.on, at.on.size());
  if (restored < least) return "step " + std::to_string(restored) + " is restored, of " + std::to_string(least);
  train(at);
  for (unsigned host = 0; host <= at.on.back(); ++host)
    for (const auto& slot : std::filesystem::directory_iterator(at.root(host))) {
      if (!slot.is_directory()) continue;
      for (const auto& entry : std::filesystem::directory_iterator(slot))
        if (!cairn::stores::detail::hidden_checkpoint(entry.path().filename().string()).empty())
          return entry.path().string() + " is left";
      const auto most = at.has_far ? 3U : 2U;  // one that was being copied stays until the next save
      if (cluster::steps_in(slot.path()).size() > most) return slot.path().string() + " has too many";
    }
  const auto newest = at.restored({at.on.rbegin(), at.on.rend()}, at.on.size());
  return newest == restored + 3 ? "" : "the next saves are not restored";
}

}  // namespace

TEST_CASE("killed while ranks save to their hosts and copy from there") {
  const auto kind = GENERATE(from_range(kinds));
  const std::uint64_t points = durability::is_long() ? 1000 : 24;
  std::uint64_t kills = 0, calls = 0;
  for (std::uint64_t point = 0; point <= points; ++point) {
    const tracer::shared<testimony> told;
    trained_cluster at(kind);
    at.save(at.on, {1, 2});
    at.options.on_event = [&](const cairn::event& what) {  // of all ranks
      auto newest = told->published.load();
      if (what.what == cairn::event::kind::published && what.step > newest &&
          told->published.compare_exchange_strong(newest, what.step))
        told->before = newest;
      if (what.what == cairn::event::kind::promoted) told->copied = std::max<std::uint64_t>(told->copied, what.step);
    };
    const auto at_call = calls == 0 ? 0 : 1 + (point * calls + durability::begin_of("hosts") % 100) / points;
    const auto plan = calls == 0 ? tracer::plan{} : tracer::plan{tracer::plan::kind::kill, at_call};
    const auto result = tracer::run(plan, [&] {
      tracer::begin();
      train(at);
      tracer::end();
    });
    at.options.on_event = nullptr;
    if (calls == 0) calls = result.calls.size();
    kills += result.was_killed() ? 1 : 0;
    INFO("killed at call " << at_call << " of about " << calls << ", " << tracer::name_of(result.at));
    CHECK((result.was_killed() || result.has_ended_well()));
    CHECK(after_the_kill(at, *told, kind != redundancy::none && point % 2 == 1) == "");
  }
  CHECK(kills > points / 3);
  std::cout << "hosts: " << kills << " kills" << std::endl;
}
