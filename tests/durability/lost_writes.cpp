// SPDX-License-Identifier: MIT
// A crash of the machine at any moment, on a disk that keeps what was synced and any part of the rest: after each, the
// newest checkpoint whose save had returned is restored, or a newer one, bit by bit.
#include "cairn/checkpointer.hpp"

#include <fcntl.h>

#include "cairn/system/parallel.hpp"
#include "cairn/store/root_directory.hpp"
#include "cairn/store/memory.hpp"
#include "cairn/system/posix.hpp"
#include "catch.hpp"
#include "chain.hpp"
#include "durability/disk_model.hpp"

namespace lost_writes {

namespace {

namespace fs = std::filesystem;
using cairn::checkpointer;
using cairn::checkpointer_options;
using kind = cairn::event::kind;

/// A run to be recorded.
struct plan {
  std::string root = "run";  // below the recorded directory
  std::size_t parameters = 600;
  std::size_t saves = 24;
  std::size_t repeat_every = 0;   // saves; then a step is saved once more with another state
  std::size_t restart_every = 0;  // saves; then another checkpointer continues from what it restores
  bool behind = false;            // saves run in the background; what is reported as published counts as saved
  bool finds_remains = false;     // of a process that was killed in a save
  bool finds_root = false;        // a directory that somebody made and did not sync
  std::size_t failing_sync = 0;   // the number of one that fails; the run goes on
  std::size_t first_durable = 0;  // before this save, checkpointers do not wait for the disk
  checkpointer_options options;
};

std::vector<plan> plans(bool durable) {
  const cairn::codec_rules exact{{"*", cairn::codecs::lossless{.xor_parent = true}}};
  std::vector<plan> all(5);
  all[0].repeat_every = 3;
  all[0].options = {.keep_last = 2, .keep_every = 5, .shards = 2};
  all[1].restart_every = 7;
  all[1].root = "somewhere/deep/run";
  all[1].finds_remains = true;
  all[1].options = {.keep_last = 2,
                    .codecs = chain::mixed_rules(),
                    .chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 3}}};
  all[2].repeat_every = 5;
  all[2].restart_every = 9;
  all[2].options = {.keep_last = 1,
                    .shards = 3,
                    .codecs = chain::mixed_rules(),
                    .chain = {.anchor_every = 8, .merge = cairn::merging{.every = 2, .to_whole = true}}};
  all[3].parameters = 9000;  // files that are written past the page cache
  all[3].saves = 12;
  all[3].options = {.keep_last = 3, .codecs = exact, .chain = {.anchor_every = 5, .merge = cairn::merging{.every = 4}}};
  all[4] = all[1];
  all[4].behind = true;
  all[4].options.when = cairn::policies::every_steps{1};
  all[4].options.on_busy = cairn::when_busy::wait;
  for (auto& each : all) {
    each.options.durable = durable;
    each.options.threads = 1;
  }
  return all;
}

/// A checkpoint that the run made: one step may have several, one after the other.
struct version {
  std::uint64_t step = 0;
  chain::bits bits;
};

/// Trains as the plan says. `open` makes a checkpointer with the given options; `started` and `returned` get the number
/// of a save.
struct trainer {
  std::function<std::unique_ptr<checkpointer>(checkpointer_options)> open;
  std::function<void(std::size_t, checkpointer&)> started = [](auto&&...) {}, returned = [](auto&&...) {};

  void run(const plan& how) const {
    std::mt19937 random(21);
    auto state = chain::start(random, how.parameters);
    auto options = how.options;
    options.durable = how.options.durable && how.first_durable == 0;
    auto run = open(options);
    std::uint64_t step = 0;
    for (std::size_t save = 0; save < how.saves; ++save) {
      chain::train(state, random);
      if (how.repeat_every == 0 || save % how.repeat_every != 1) ++step;
      started(save, *run);
      const cairn::observation seen{.step = step, .loss = 1.0 / static_cast<double>(step + 1)};
      try {
        how.behind ? static_cast<void>(run->step(state, seen)) : static_cast<void>(run->save(state, seen));
        returned(save, *run);
        if (save % 4 == 3) run->wait();  // else merging continues in the background
      } catch (const cairn::error&) {
        if (how.failing_sync == 0) throw;
      }
      if (how.restart_every == 0 || save % how.restart_every != how.restart_every - 1) continue;
      run.reset();
      options.durable = how.options.durable && save + 1 >= how.first_durable;
      run = open(options);
      REQUIRE(run->restore(state));
    }
    run->wait();
  }
};

struct recorded_run {
  plan how;
  call_log log;
  std::vector<version> versions;
};

/// What readers get of every checkpoint, when nothing crashes and nothing is on a disk.
std::vector<version> undisturbed(const plan& how) {
  cairn::any_store store = cairn::stores::memory();
  std::vector<version> all;
  trainer twin;
  twin.open = [&](auto options) {
    options.durable = true;  // an option of directories
    return std::make_unique<checkpointer>(store, std::move(options));
  };
  twin.returned = [&](std::size_t, checkpointer& run) {
    run.wait();
    const auto name = store.list().back();
    all.push_back({*cairn::detail::parse_checkpoint_name(name), chain::restored(store, name)});
  };
  twin.run(how);
  return all;
}

/// What a process leaves that is killed while it saves: part of a shard, in a directory that is not published.
void leave_remains(const std::string& root, std::uint64_t step) {
  const auto hidden =
      root + "/.tmp-" + cairn::detail::checkpoint_name(step) + "." + cairn::stores::detail::new_attempt("", "");
  fs::create_directory(hidden);
  const auto file =
      cairn::posix::open_at(AT_FDCWD, hidden + "/" + cairn::detail::shard_file(0, 1), O_WRONLY | O_CREAT | O_EXCL);
  const std::string text(9000, 'x');
  const std::span<const std::byte> buffers[] = {sample::bytes_of(text)};
  cairn::posix::write_all(file.get(), buffers, 0, hidden);
}

call_log record(const plan& how, const std::string& base) {
  recorder calls(base, how.failing_sync);
  const auto root = base + "/" + how.root;
  if (how.finds_root) fs::create_directories(root);
  trainer recorded;
  recorded.open = [&](checkpointer_options options) {
    options.on_event = [&](const cairn::event& e) {
      if (e.what == kind::published && how.behind) recorder::mark("returned", e.step - 1);
      if (e.what == kind::pruned || e.what == kind::merged) recorder::mark(std::string(name(e.what)));
    };
    return std::make_unique<checkpointer>(root, std::move(options));
  };
  recorded.started = [](std::size_t save, auto&) { recorder::mark("started", save); };
  recorded.returned = [&](std::size_t save, auto&) {
    if (save >= how.first_durable && !how.behind) recorder::mark("returned", save);
    if (how.finds_remains && save % 6 == 2) leave_remains(root, save + 2);
  };
  recorded.run(how);
  return calls.finish();
}

/// Path -> contents of every file, and of directories their names.
std::map<std::string, std::string> tree(const fs::path& root) {
  std::map<std::string, std::string> all;
  for (const auto& each : fs::recursive_directory_iterator(root))
    all[each.path().lexically_relative(root)] = each.is_directory() ? "directory" : sample::slurp(each.path());
  return all;
}

/// How far a restored state is from the real one in the leaves of `lost`; the others must be equal.
bool is_within(const chain::state& restored, const chain::state& real, const std::map<std::string, cairn::loss>& lost) {
  const auto is = chain::bits_of(restored);
  for (const auto& leaf : cairn::detail::describe(real).leaves) {
    const auto& bytes = is.at(leaf.path);
    const auto at = lost.find(leaf.path);
    if (at == lost.end() ? bytes != sample::packed(leaf) : bytes.size() != leaf.bytes()) return false;
    if (at == lost.end() || leaf.type != cairn::dtype::f32) continue;
    for (std::uint64_t i = 0; i < leaf.count(); ++i) {
      float now = 0, was = 0;
      std::memcpy(&now, bytes.data() + 4 * i, 4);
      std::memcpy(&was, leaf.memory + 4 * i, 4);
      if (!(std::abs(static_cast<double>(now) - static_cast<double>(was)) <= at->second.max_error)) return false;
    }
  }
  return true;
}

struct tally {
  std::mutex mutex;
  std::vector<std::string> wrong;
  std::size_t crashes = 0, newest = 0, newer = 0, older = 0, nothing = 0, passed_over = 0, refused = 0;

  void add(std::size_t tally::* what, std::size_t count = 1) {
    const std::lock_guard lock(mutex);
    this->*what += count;
  }
};

/// The machine starts again an hour later. What is left has that age, so that no process of another machine counts as
/// its owner.
void set_times(const std::string& root) {
  for (const auto& each : fs::recursive_directory_iterator(root))
    fs::last_write_time(each, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

/// One crash of a recorded run, and what comes after it.
class crash {
 public:
  crash(const recorded_run& run, std::uint64_t seed, tally& result)
      : run_(run), random_(seed), seed_(seed), tally_(result) {
    const auto& operations = run.log.operations;
    point_ = random_() % (operations.size() + 1);
    for (std::size_t i = 0; i < point_; ++i) {
      if (operations[i].what != operation::kind::mark) continue;
      if (operations[i].text == "started") started_ = operations[i].number + 1;
      if (operations[i].text == "returned") returned_ = operations[i].number + 1;
    }
  }

  void check() {
    const sample::scratch scratch(sample::in_memory());
    kind_ = static_cast<remains>(seed_ % 3);
    auto* const write_back = run_.how.options.durable ? nullptr : &random_;  // else hardly a name would be left
    disk_model(run_.log, point_, write_back).crash(kind_, random_, scratch.path());
    set_times(scratch.path());
    tally_.add(&tally::crashes);
    try {
      check(scratch.path(run_.how.root));
    } catch (const std::exception& error) {
      wrong(error.what());
    }
  }

 private:
  void wrong(const std::string& what) {
    const std::lock_guard lock(tally_.mutex);
    tally_.wrong.push_back("seed " + std::to_string(seed_) + ", operation " + std::to_string(point_) + ", remains " +
                           std::to_string(static_cast<int>(kind_)) + ", saves returned " + std::to_string(returned_) +
                           ": " + what);
  }

  void check(const std::string& root) {
    chain::state state;
    auto run = std::make_unique<checkpointer>(root, run_.how.options);
    std::optional<cairn::load_report> found;
    try {
      found = run->restore(state);
    } catch (const cairn::error&) {
      if (run_.how.options.durable && returned_ > 0) throw;
      tally_.add(&tally::refused);
      return;
    }
    check_version(found, state);
    if (run_.how.options.durable) check_next(std::move(run), root, state);
  }

  /// What was restored is a version that was being saved, and not older than one whose save had returned.
  void check_version(const std::optional<cairn::load_report>& found, const chain::state& state) {
    if (!found) {
      if (run_.how.options.durable && returned_ > 0) wrong("there is no checkpoint");
      return tally_.add(&tally::nothing);
    }
    tally_.add(&tally::passed_over, found->skipped.size());
    const auto bits = chain::bits_of(state);
    for (std::size_t number = started_; number-- > 0;) {
      const auto& each = run_.versions[number];
      if (each.step != found->step || each.bits != bits) continue;
      if (number + 1 < returned_ && run_.how.options.durable)
        wrong("lost: step " + std::to_string(found->step) + " was restored");
      return tally_.add(number + 1 == returned_  ? &tally::newest
                        : number + 1 > returned_ ? &tally::newer
                                                 : &tally::older);
    }
    wrong("step " + std::to_string(found->step) + " was never like that");
  }

  /// The run goes on: saves, restores, and leaves nothing behind.
  void check_next(std::unique_ptr<checkpointer> run, const std::string& root, chain::state state) {
    std::mt19937 random(5);
    if (state.net.weight.empty()) state = chain::start(random, run_.how.parameters);
    chain::train(state, random);
    const auto step = run_.versions.back().step + 1;
    const auto report = run->save(state, {.step = step});
    run->wait();
    run.reset();
    chain::state again;
    const auto found = checkpointer(root, run_.how.options).restore(again);
    if (!found || found->step != step || !found->skipped.empty()) return wrong("the next save is not restored");
    if (!is_within(again, state, report.lost)) wrong("the next save restores something else");
    for (const auto& each : fs::directory_iterator(root)) {
      if (each.path().filename().string().starts_with(".")) wrong(each.path().filename().string() + " was left");
      if (each.is_directory() && !fs::exists(each.path() / "index.json"))
        wrong(each.path().filename().string() + " has no index");
    }
  }

  const recorded_run& run_;
  std::mt19937_64 random_;
  std::uint64_t seed_;
  tally& tally_;
  remains kind_{};
  std::size_t point_ = 0, started_ = 0, returned_ = 0;  // counts of saves
};

std::size_t marks(const call_log& log, const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(log.operations.begin(), log.operations.end(),
                    [&](const operation& each) { return each.what == operation::kind::mark && each.text == text; }));
}

std::vector<recorded_run> record_all(const std::vector<plan>& all) {
  std::vector<recorded_run> runs;
  for (const auto& how : all) {
    const sample::scratch scratch;  // on a disk, where there is one: direct I/O and what comes with it
    runs.push_back({how, record(how, scratch.path()), undisturbed(how)});
    const auto& log = runs.back().log;
    REQUIRE(runs.back().versions.size() == how.saves);
    CHECK(marks(log, "pruned") > how.saves / 3);
    CHECK((marks(log, "merged") > 1) == how.options.chain.merge.has_value());
    const sample::scratch copy(sample::in_memory());
    disk_model(log, log.operations.size()).unmount(copy.path());
    CHECK(tree(copy.path()) == tree(scratch.path()));  // nothing was done that is not in the log
  }
  return runs;
}

void crash_all(const std::vector<recorded_run>& runs, std::size_t seeds, tally& result) {
  cairn::detail::parallel_for(
      seeds, 2, [&](std::size_t seed, unsigned) { crash(runs[seed / 3 % runs.size()], seed, result).check(); });
  for (std::size_t i = 0; i < std::min<std::size_t>(result.wrong.size(), 5); ++i) UNSCOPED_INFO(result.wrong[i]);
  CHECK(result.wrong.size() == 0);
}

}  // namespace

TEST_CASE("lost writes: a crash of the machine loses no checkpoint whose save had returned") {
  const std::size_t seeds = std::getenv("CAIRN_LONG_TESTS") != nullptr ? 20'000 : 2000;
  tally result;
  crash_all(record_all(plans(true)), seeds, result);
  std::printf(
      "lost writes: %zu crashes, %zu wrong; restored the newest that was saved %zu times, a newer one %zu times; "
      "nothing was saved yet %zu times; passed over %zu\n",
      result.crashes, result.wrong.size(), result.newest, result.newer, result.nothing + result.refused,
      result.passed_over);
  CHECK(result.newest > seeds / 4);
  CHECK(result.newer > 0);
  CHECK(result.older == 0);
}

TEST_CASE("lost writes: where saves do not wait for the disk, a crash leaves what was saved or what is refused") {
  const std::size_t seeds = std::getenv("CAIRN_LONG_TESTS") != nullptr ? 2000 : 200;
  tally result;
  crash_all(record_all(plans(false)), seeds, result);
  std::printf(
      "lost writes, not durable: %zu crashes, %zu wrong; restored the newest %zu times, a newer one %zu, an older one "
      "%zu; "
      "refused %zu, nothing there %zu\n",
      result.crashes, result.wrong.size(), result.newest, result.newer, result.older, result.refused, result.nothing);
  CHECK(result.refused > 0);
  CHECK(result.newest + result.older > 0);
}

TEST_CASE("lost writes: a sync fails, the run goes on, and then the machine crashes") {
  auto how = plans(true)[3];
  how.saves = 8;
  const auto versions = undisturbed(how);
  const bool is_long = std::getenv("CAIRN_LONG_TESTS") != nullptr;
  tally result;
  std::size_t failures = 0;
  for (how.failing_sync = 1;; ++how.failing_sync) {
    const sample::scratch scratch;
    std::vector<recorded_run> run{{how, record(how, scratch.path()), versions}};
    const auto& operations = run.front().log.operations;
    if (std::none_of(operations.begin(), operations.end(),
                     [](const operation& each) { return each.what == operation::kind::failure; }))
      break;
    ++failures;
    crash_all(run, is_long ? 90 : 4, result);
  }
  std::printf("lost writes: %zu crashes after %zu failed syncs, %zu wrong\n", result.crashes, failures,
              result.wrong.size());
  CHECK(failures > 10);
}

// The names above the checkpoints are their maker's to sync; file systems with a journal do it all the same.
TEST_CASE("lost writes: a directory of checkpoints that somebody else made and did not sync") {
  auto how = plans(true)[0];
  how.root = "somewhere/deep/run";
  how.finds_root = true;
  tally result;
  crash_all(record_all({how}), 100, result);
}

TEST_CASE("lost writes: deltas that wait for the disk, on checkpoints that did not") {
  auto how = plans(true)[1];
  how.finds_remains = false;
  how.first_durable = how.restart_every;
  tally result;
  crash_all(record_all({how}), 100, result);
}

}  // namespace lost_writes
