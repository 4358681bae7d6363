// SPDX-License-Identifier: MIT
// Histories of writers, readers, retention, merging and `kill -9` on two hosts that share a file system as NFS clients
// do: what is restored was saved as that step, and is not older than what was published before; two owners are never
// there at once.
#include "cairn/checkpointer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "durability/filesystems/host.hpp"
#include "durability/filesystems/lying.hpp"
#include "durability/scenarios.hpp"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

enum class what : std::uint32_t {
  nothing,
  begun,
  published,
  restoring,
  restored,
  skipped,
  empty,
  failed,
  busy,
  killed
};

/// In the order in which things happened: a number is taken before what it begins, and after what it ends.
struct entry {
  std::atomic<what> kind{what::nothing};
  std::uint32_t who = 0;
  std::uint64_t step = 0, value = 0;
  std::uint64_t since =
      0;  // of a restore: the number of its beginning; of a publication: which checkpointer of the process it was
  char text[200] = {};
};

struct history {
  std::atomic<std::uint64_t> count{0};
  std::atomic<bool> ends{false};
  std::array<entry, 1 << 15> entries;

  std::uint64_t note(what kind, std::uint32_t who, std::uint64_t step = 0, std::uint64_t value = 0,
                     std::uint64_t since = 0, const char* text = "") {
    const auto number = count++;
    if (number >= entries.size()) ::_exit(6);
    auto& to = entries[number];
    to.who = who;
    to.step = step;
    to.value = value;
    to.since = since;
    std::strncpy(to.text, text, sizeof to.text - 1);
    to.kind = kind;
    return number;
  }
};

/// All of it follows from `value`.
struct state {
  std::vector<float> weights;
  std::uint64_t step = 0, value = 0;
};

state made(std::uint64_t step, std::uint64_t value) {
  state all{std::vector<float>(1500), step, value};
  for (std::size_t i = 0; i < all.weights.size(); ++i)
    all.weights[i] = static_cast<float>((value + i / 64 * step) % 1000) / 1000;
  return all;
}

constexpr auto lease = 250ms;

cairn::any_store store_at(const std::string& root) { return cairn::stores::directory(root, {.lease = lease}); }

cairn::checkpointer_options options() {
  cairn::checkpointer_options all;
  all.keep_last = 2;
  all.threads = 1;
  all.codecs = {{"*", cairn::codecs::lossless{.xor_parent = true}}};
  all.chain = {.anchor_every = 7, .merge = cairn::merging{.every = 3}};
  return all;
}

/// Owns the place for a few saves, again and again.
void write(history& all, std::uint32_t who, const std::string& root, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::uint64_t turn = 1; !all.ends; ++turn) {
    try {
      auto opts = options();
      std::uint64_t value = 0;
      opts.on_event = [&](const cairn::event& e) {
        if (e.what == cairn::event::kind::published) all.note(what::published, who, e.step, value, turn);
      };
      cairn::checkpointer run(store_at(root), opts);
      state now;
      static_cast<void>(run.restore(now));
      for (auto saves = 1 + random() % 12; saves-- > 0 && !all.ends;) {
        value = random();
        now = made(now.step + 1, value);
        all.note(what::begun, who, now.step, value);
        run.save(now, {.step = now.step});
      }
      run.wait();
    } catch (const cairn::error& cause) {
      const bool is_busy = cause.code() == cairn::errc::busy || cause.code() == cairn::errc::stale;
      all.note(is_busy ? what::busy : what::failed, who, 0, 0, 0, cause.what());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));  // for the other writers
  }
}

void read(history& all, std::uint32_t who, const std::string& root) {
  while (!all.ends) {
    const auto since = all.note(what::restoring, who);
    try {
      cairn::checkpointer run(store_at(root), options());
      state now;
      const auto report = run.restore(now);
      const bool is_whole = !report || (report->step == now.step && now.weights == made(now.step, now.value).weights);
      if (!report)
        all.note(what::empty, who, 0, 0, since);
      else
        all.note(is_whole ? what::restored : what::failed, who, now.step, now.value, since, is_whole ? "" : "torn");
      if (report && !report->skipped.empty())
        all.note(what::skipped, who, now.step, now.value, since, report->skipped.front().reason.c_str());
    } catch (const cairn::error& cause) {  // errc::busy: the writers changed the place each time that it was listed
      all.note(cause.code() == cairn::errc::busy ? what::busy : what::failed, who, 0, 0, since, cause.what());
    }
    std::this_thread::sleep_for(5ms);
  }
}

struct verdict {
  std::vector<std::string> wrong;
  std::map<what, std::size_t> counts;
  std::size_t owners = 0;
};

/// Checks all that a history says.
verdict judge(const history& all) {
  verdict found;
  std::set<std::pair<std::uint64_t, std::uint64_t>> begun;
  std::vector<std::uint64_t> newest{0};  // published before entry i
  const auto count = all.count.load();
  const auto late = [&](std::uint64_t i, const std::string& text) {
    found.wrong.push_back("entry " + std::to_string(i) + ": step " + std::to_string(all.entries[i].step) + text);
  };
  const auto object = [&](std::uint64_t i, const std::string& text) {
    const auto& at = all.entries[i];
    found.wrong.push_back("entry " + std::to_string(i) + ", process " + std::to_string(at.who) + ", step " +
                          std::to_string(at.step) + ": " + text + " " + at.text);
  };
  std::pair<std::uint32_t, std::uint64_t> owner;
  std::set<std::pair<std::uint32_t, std::uint64_t>> former;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto& at = all.entries[i];
    const auto kind = at.kind.load();
    ++found.counts[kind];
    newest.push_back(newest.back());
    if (kind == what::begun) begun.insert({at.step, at.value});
    if (kind == what::published) {
      if (!begun.contains({at.step, at.value})) object(i, "was published, but not saved");
      const std::pair now{at.who, at.since};
      // What another run has restored before may end in the same step.
      if (at.step < newest.back() + (now == owner))
        late(i, " was published after step " + std::to_string(newest.back()));
      newest.back() = std::max(newest.back(), at.step);
      if (now == owner) continue;
      if (!former.insert(now).second) object(i, "was published after another owner has published");
      found.owners += owner.first != at.who;
      owner = now;
    }
    if (kind == what::restored) {
      if (!begun.contains({at.step, at.value})) object(i, "was restored with values that nobody saved");
      if (at.step < newest[at.since]) late(i, " was restored after " + std::to_string(newest[at.since]));
    }
    if (kind == what::empty && newest[at.since] > 0) late(i, ": nothing was restored");
    if (kind == what::failed) object(i, "failed:");
    if (kind == what::skipped) late(i, std::string(" was restored, passing over: ") + at.text);
  }
  return found;
}

/// One of the processes of a history, which may be ended and started again.
struct actor {
  std::uint32_t who;
  std::string host, root;
  bool writes;
  pid_t process = 0;
};

void start(actor& one, history& all, const std::string& scratch, std::uint64_t seed) {
  one.process = ::fork();
  if (one.process != 0) return;
  try {
    filesystems::become_host(one.host, scratch);
    one.writes ? write(all, one.who, one.root, seed) : read(all, one.who, one.root);
  } catch (...) {
    ::_exit(4);
  }
  ::_exit(0);
}

/// Waits until the history has `count` entries, or for 30 s.
void wait_for(const history& all, std::uint64_t count) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (all.count < count && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(2ms);
}

std::uint64_t last_published(const history& all) {
  std::uint64_t last = 0;
  for (const auto& each : all.entries)
    if (each.kind == what::published) last = each.step;
  return last;
}

/// What a process of its own restores from `root` once it has forgotten what it remembers: at least `least`, or what it
/// restores after 20 s.
std::uint64_t restored_in_the_end(const std::string& root, std::uint64_t least) {
  const tracer::shared<std::atomic<std::uint64_t>> step;
  tests::channel said;
  const pid_t reader = tests::start_child(said, [&](const tests::channel&) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (*step < least && std::chrono::steady_clock::now() < end) {
      state now;
      static_cast<void>(cairn::checkpointer(store_at(root), options()).restore(now));
      *step = now.step;
    }
  });
  ::waitpid(reader, nullptr, 0);
  return *step;
}

void play(const std::string& lies, std::size_t kills, std::uint64_t seed) {
  const sample::scratch scratch(sample::in_memory());
  for (const auto* name : {"served", "a", "b"}) fs::create_directory(scratch.path(name));
  std::optional<filesystems::lying_mount> a, b;
  try {
    a.emplace(scratch.path("served"), scratch.path("a"));
    b.emplace(scratch.path("served"), scratch.path("b"));
  } catch (const filesystems::unavailable& cause) {
    SKIP(cause.reason);
  }
  filesystems::tell(a->how(), lies);
  filesystems::tell(b->how(), lies);

  const tracer::shared<history> all;
  std::mt19937_64 random(seed);
  std::vector<actor> actors;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const bool is_on_a = i % 2 == 0;
    actors.push_back({.who = i + 1,
                      .host = is_on_a ? "host-a" : "host-b",
                      .root = scratch.path(is_on_a ? "a" : "b") + "/run",
                      .writes = i < 3});
  }
  for (auto& each : actors) start(each, *all, scratch.path(), random());
  // On a busy machine few of those that die have saved: more are killed, until the owner has changed often enough.
  const std::size_t changes = kills / 2 + 1;
  for (std::size_t i = 0; i < kills || (i < 4 * kills && judge(*all).owners < changes); ++i) {
    wait_for(*all, all->count + 20 + random() % 60);
    auto& dies = actors[random() % actors.size()];
    ::kill(dies.process, SIGKILL);
    int status = 0;
    ::waitpid(dies.process, &status, 0);
    CHECK(WIFSIGNALED(status));  // else it has ended by itself: it may not be a host, or the history is full
    all->note(what::killed, dies.who);
    dies.who += 100;  // is another process now
    start(dies, *all, scratch.path(), random());
  }
  wait_for(*all, all->count + 100);
  all->ends = true;
  for (auto& each : actors) {
    int status = 0;
    ::waitpid(each.process, &status, 0);
    CHECK(status == 0);
  }

  auto found = judge(*all);
  for (std::size_t i = 0; i < std::min<std::size_t>(found.wrong.size(), 10); ++i) UNSCOPED_INFO(found.wrong[i]);
  CHECK(found.wrong.empty());
  const auto last = last_published(*all);
  CHECK(restored_in_the_end(actors[0].root, last) >= last);
  CHECK(restored_in_the_end(actors[1].root, last) >= last);
  CHECK(found.counts[what::published] > kills);
  CHECK(found.counts[what::restored] > kills);
  CHECK(found.owners >= changes);
  std::printf("histories on %s: %zu saves, %zu restores, %zu kills, %zu changes of the owner; %zu wrong\n",
              lies.c_str(), found.counts[what::published], found.counts[what::restored], found.counts[what::killed],
              found.owners, found.wrong.size());
}

std::size_t kills() { return durability::is_long() ? 400 : 25; }

}  // namespace

TEST_CASE("histories of two hosts that share a file system without locks, with silly renames") {
  play("nfs", kills(), 1);
}
TEST_CASE("histories of two hosts where requests are sent twice") { play("nfs+resends", kills(), 2); }
TEST_CASE("histories of two hosts that remember names") { play("nfs+briefly_cached_names", kills(), 3); }
