// SPDX-License-Identifier: MIT
// What the crash matrix and the fault matrix do to a directory of checkpoints, and what must be there afterwards.
#pragma once

#include "cairn/checkpointer.hpp"
#include "cairn/store/root_directory.hpp"
#include "cairn/store/directory.hpp"
#include "chain.hpp"
#include "child.hpp"
#include "durability/tracer.hpp"
#include "standard.hpp"

namespace durability {

namespace fs = std::filesystem;

/// Longer and larger runs, where somebody has the time.
[[nodiscard]] inline bool is_long() { return std::getenv("CAIRN_LONG_TESTS") != nullptr; }

/// At which of the points a scenario begins whose points are not all tried: at another one than others, which do nearly
/// the same, and at the next one in each turn of .ci/run (CAIRN_TURN).
[[nodiscard]] inline std::size_t begin_of(const std::string& scenario) {
  const char* const turn = std::getenv("CAIRN_TURN");
  return std::hash<std::string>()(scenario) + (turn != nullptr ? std::strtoull(turn, nullptr, 10) : 0);
}

/// The directory in which a program works: CAIRN_TEST_PLACE, or one in memory.
[[nodiscard]] inline std::string place() {
  const char* const chosen = std::getenv("CAIRN_TEST_PLACE");
  return chosen != nullptr ? chosen : sample::in_memory().string();
}

/// CAIRN_TEST_EVERY, or 1.
[[nodiscard]] inline unsigned every() {
  const char* const chosen = std::getenv("CAIRN_TEST_EVERY");
  return chosen != nullptr && !is_long() ? static_cast<unsigned>(std::max(1, std::atoi(chosen))) : 1;
}

/// How the traced process begins.
enum class opening : std::uint8_t {
  fresh,     ///< it saves without a look at what is there
  restored,  ///< it has restored the newest checkpoint before the trace begins
  restoring  ///< it restores within the trace
};

/// A policy that has notes in its checkpoints, and saves every step.
struct remembering {
  static cairn::decision should_save(const cairn::moment& /*now*/) { return true; }
  [[nodiscard]] static cairn::policy_memory remember() { return {{"kept", {1}}}; }
  static void recall(const cairn::policy_memory& /*kept*/) {}
};

/// The traced process saves `saved` into a directory that holds `prepared`, and waits for the work in the background.
struct scenario {
  std::string name;
  bool durable = true;
  std::size_t parameters = 64;
  std::vector<std::uint64_t> prepared{};
  std::vector<std::uint64_t> saved{};
  std::optional<std::size_t> keep_last{};
  bool has_deltas = false;
  cairn::chain_options chain{};
  opening begins = opening::fresh;
  bool behind = false;   ///< by `step`, and not by `save`
  unsigned threads = 1;  ///< of a save; more shards are then written at the same time
  std::optional<std::uint64_t> max_staging_bytes{};
  cairn::when_busy on_busy = cairn::when_busy::wait;
  cairn::when_older on_older_step = cairn::when_older::refuse;
  bool has_notes = false;  ///< somebody has put a file into each prepared checkpoint
  bool forks = false;      ///< the traced process has a child, which outlives it
  bool ends = false;       ///< it ends with a `save` of what is there already
  unsigned thinned = 1;    ///< outside of the long tests, every n-th crash or fault is enough

  /// Whether each run makes the same calls in the same order, and publishes all that it saves.
  [[nodiscard]] bool is_repeatable() const { return threads == 1 && on_busy == cairn::when_busy::wait; }

  [[nodiscard]] cairn::checkpointer_options options() const {
    cairn::checkpointer_options made;
    made.keep_last = keep_last;
    made.durable = durable;
    made.threads = threads;
    made.background_threads = threads;
    made.shards = threads > 1 ? 3 : 0;
    made.max_staging_bytes = max_staging_bytes;
    made.on_older_step = on_older_step;
    if (has_deltas) made.codecs = chain::mixed_rules();
    made.chain = chain;
    made.when = cairn::policies::every_steps{1};
    if (ends) made.when = remembering();
    made.on_busy = on_busy;
    made.retry_for = {};  // every fault is thrown
    made.copy_threads = 1;
    return made;
  }

  /// A step that is there already is saved with other values.
  [[nodiscard]] bool replaces(std::uint64_t step) const { return contains(prepared, step) && contains(saved, step); }
  [[nodiscard]] std::uint64_t last() const { return std::max(newest(prepared), newest(saved)); }
  [[nodiscard]] static std::uint64_t newest(const std::vector<std::uint64_t>& steps) {
    return steps.empty() ? 0 : steps.back();
  }

 private:
  [[nodiscard]] static bool contains(const std::vector<std::uint64_t>& steps, std::uint64_t step) {
    return std::find(steps.begin(), steps.end(), step) != steps.end();
  }
};

/// A run of this program makes every n-th of the crashes or faults of a scenario.
[[nodiscard]] inline unsigned every_of(const scenario& in) { return is_long() ? 1 : every() * in.thinned; }

/// Durable ones are so large that their data goes around the page cache.
inline scenario make_scenario(std::string name, bool durable, bool behind) {
  const std::size_t small = is_long() ? 2000 : 64, large = is_long() ? 60'000 : durable ? 6000 : 64;
  const std::vector<std::uint64_t> saved =
      is_long() ? std::vector<std::uint64_t>{4, 5, 6, 7} : std::vector<std::uint64_t>{4};
  scenario made{.name = name + (durable ? ", durable" : ", plain"), .durable = durable};
  made.behind = behind;
  if (name == "first") {
    made.parameters = large;
    made.saved = {1};
  } else if (name == "full") {
    made.parameters = large;
    made.prepared = {1, 2};
    made.saved = {3};
  } else if (name == "replace") {
    made.parameters = large;
    made.prepared = {1, 2};
    made.saved = {2};
  } else if (name == "delta") {
    made.parameters = small;
    made.prepared = {1, 2};
    made.saved = {3, 4};
    made.has_deltas = true;
    made.begins = opening::restored;
  } else if (name == "merge") {
    made.parameters = small;
    made.prepared = {1, 2};
    made.saved = {3};
    made.keep_last = 1;
    made.has_deltas = true;
    made.chain = {.anchor_every = 1000, .merge = cairn::merging{.every = 2}};
    made.begins = opening::restored;
  } else if (name == "prune") {
    made.parameters = small;
    made.prepared = {1, 2, 3};
    made.saved = saved;
    made.keep_last = 1;
  } else if (name == "prune notes") {
    made.parameters = small;
    made.prepared = {1, 2, 3};
    made.saved = saved;
    made.keep_last = 1;
    made.has_notes = true;
  } else if (name == "prune deltas") {  // 4 needs 3; 1 and 2 may go
    made.parameters = small;
    made.prepared = {1, 2, 3};
    made.saved = saved;
    made.keep_last = 1;
    made.has_deltas = true;
    made.chain.anchor_every = 2;
    made.begins = opening::restored;
  } else if (name == "resume") {
    made.parameters = small;
    made.prepared = {1, 2};
    made.saved = {3, 4};
    made.keep_last = 1;
    made.has_deltas = true;
    made.chain.anchor_every = 2;
    made.begins = opening::restoring;
  } else if (name == "threads") {
    made.parameters = 16 * small;
    made.prepared = {1, 2};
    made.saved = {3, 4};
    made.keep_last = 2;
    made.threads = 3;
    made.thinned = 4;
  } else if (name == "parts") {  // of a state that is larger than the memory for its copy
    made.parameters = 200'000;
    made.prepared = {1};
    made.saved = {2};
    made.max_staging_bytes = std::uint64_t{1} << 20;
    made.thinned = 4;
  } else if (name == "cancelled") {  // by the next save
    made.parameters = small;
    made.prepared = {1, 2};
    made.saved = {3, 4, 5, 6};
    made.keep_last = 2;
    made.on_busy = cairn::when_busy::replace;
    made.thinned = 4;
  } else if (name == "older") {  // another run in the same directory
    made.parameters = small;
    made.prepared = {1, 2, 3};
    made.saved = {2};
    made.on_older_step = cairn::when_older::replace;
  } else if (name == "ended") {
    made.parameters = small;
    made.prepared = {1, 2};
    made.saved = {3};
    made.ends = true;
    made.thinned = 2;
  } else if (name == "forked") {
    made.parameters = small;
    made.prepared = {1, 2};
    made.saved = {3};
    made.keep_last = 1;
    made.forks = true;
    made.thinned = 4;
  } else {
    throw std::logic_error("no scenario " + name);
  }
  return made;
}

/// The state after step `step` of the training, which is the same in every call. `again`: of a step that is saved a
/// second time.
inline chain::state trained(const scenario& in, std::uint64_t step, bool again = false) {
  static std::map<std::size_t, std::pair<std::mt19937, std::vector<chain::state>>> runs;
  auto& [random, states] = runs[in.parameters];
  if (states.empty()) {
    random.seed(11);
    states.push_back(chain::start(random, in.parameters));
  }
  while (states.size() <= step) {
    states.push_back(states.back());
    chain::train(states.back(), random);
  }
  auto state = states[step];
  if (again) state.net.bias.front() += 1;
  return state;
}

/// What is wrong with checkpoint `name` as one of `real`: exact, or as far off as its file says.
inline std::string compare(const cairn::any_store& store, const std::string& name, const chain::state& real) {
  const cairn::detail::chain_reader reader(store, name);
  reader.verify(1);
  for (const auto& leaf : cairn::detail::describe(real).leaves) {
    const auto index = reader.contents().find(leaf.path);
    if (index == cairn::detail::catalog::npos) return name + " has no " + leaf.path;
    const auto was = sample::packed(leaf);
    std::vector<std::byte> is(reader.contents().leaves[index].bytes());
    reader.contents().fetch(index, is);
    const auto slices = reader.newest().slices_of(reader.contents().find(leaf.path));
    if (slices.empty() || was.size() != is.size()) return name + ": " + leaf.path + " has another shape";
    const auto lost = slices[0].encoded ? slices[0].encoded->lost : std::nullopt;
    if (lost && slices.size() > 1) return name + ": " + leaf.path + " is in several slices";
    if (!lost && was != is) return name + ": " + leaf.path + " has other bits";
    if (!lost) continue;
    double largest = 0;
    const auto differ = [&]<class T>(T a, T b, std::uint64_t i) {
      std::memcpy(&a, was.data() + i * sizeof a, sizeof a);
      std::memcpy(&b, is.data() + i * sizeof b, sizeof b);
      largest = std::max(
          largest, std::abs(static_cast<double>(static_cast<float>(a)) - static_cast<double>(static_cast<float>(b))));
    };
    for (std::uint64_t i = 0; i < leaf.count(); ++i) {
      if (leaf.type == cairn::dtype::f32)
        differ(0.0F, 0.0F, i);
      else
        differ(cairn::bfloat16(), cairn::bfloat16(), i);
    }
    if (lost->max_error != largest) return name + ": " + leaf.path + " is not what its writer tracked";
  }
  return {};
}

[[nodiscard]] inline cairn::any_store store_at(const std::string& root) { return cairn::stores::directory(root); }

/// The steps of the checkpoints in a directory, in order.
inline std::vector<std::uint64_t> steps_in(const std::string& root) { return sample::steps_in(store_at(root)); }

/// The name of the newest checkpoint of a step in a directory.
inline std::string name_in(const std::string& root, std::uint64_t step) {
  const auto all = store_at(root).list();
  const auto found = std::find_if(all.rbegin(), all.rend(),
                                  [&](const auto& name) { return cairn::detail::parse_checkpoint_name(name) == step; });
  return found == all.rend() ? cairn::detail::checkpoint_name(step) : *found;
}

/// The file of somebody in a checkpoint.
inline constexpr const char* notes_file = "notes.txt";

/// What is half-done in a directory; empty when nothing is. Where there are notes a directory stays, with what a killed
/// process has not deleted.
inline std::string half_done_in(const std::string& root) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(root)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("step-")) return name + " is left";
    if (fs::exists(entry.path() / notes_file)) continue;
    if (!fs::exists(entry.path() / "index.json")) return name + " is left without its index";
    const auto of = cairn::detail::parse_generation(name);
    if (!of || !names.insert(of->name).second) return name + " is left beside another generation";
  }
  return {};
}

/// Also where a request is sent twice, and the second one finds nothing.
inline void remove_all(const std::string& path) {
  constexpr int most = 1000;
  std::error_code failure;
  for (int tries = 0; tries < most; ++tries)
    if (fs::remove_all(path, failure); !failure) return;
  throw fs::filesystem_error("cannot be removed", path, failure);
}

/// As fs::copy, also there.
inline void copy_tree(const fs::path& from, const fs::path& to) {
  fs::create_directory(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    const auto copy = to / entry.path().filename();
    entry.is_directory() ? copy_tree(entry.path(), copy) : static_cast<void>(fs::copy_file(entry.path(), copy));
  }
}

/// A directory as the traced process finds it, made once and copied for every run.
class stage {
 public:
  explicit stage(scenario in) : in_(std::move(in)), prepared_(place_.path("prepared")), run_(place_.path("run")) {
    fs::create_directory(prepared_);
    static_cast<void>(cairn::stores::detail::machine_id(0));  // read once per process: here, and not in the first run
    auto options = in_.options();
    options.keep_last.reset();
    options.chain.merge.reset();
    cairn::checkpointer run(prepared_ + "/" + name, options);
    for (const auto step : in_.prepared) {
      run.save(trained(in_, step), {.step = step});
      if (in_.has_notes) sample::spill(prepared_ + "/" + name + "/" + notes_of(step), std::to_string(step));
    }
    for (std::uint64_t step = 0; step < in_.last() + 3; ++step) static_cast<void>(trained(in_, step));
  }

  [[nodiscard]] const scenario& in() const noexcept { return in_; }
  [[nodiscard]] std::string root() const { return run_ + "/" + name; }

  /// A fresh copy. Nothing at all where nothing is prepared.
  void set_up() const {
    static_cast<void>(cairn::detail::machine_memory());  // is asked once: here, and not by some of the traced processes
    remove_all(run_);
    copy_tree(prepared_, run_);
  }

  /// What has become of the notes that somebody has put into the checkpoints; empty if they are there.
  [[nodiscard]] std::string lost_notes() const {
    for (const auto step : in_.prepared)
      if (in_.has_notes && sample::slurp(root() + "/" + notes_of(step)) != std::to_string(step))
        return notes_of(step) + " is not there any more";
    return {};
  }

  /// Makes the root one of a short path: every part of it is a few calls. Returns that.
  std::string enter() const {
    fs::current_path(run_);
    return name;
  }

 private:
  static constexpr const char* name = "all/checkpoints";

  [[nodiscard]] static std::string notes_of(std::uint64_t step) {
    return cairn::detail::checkpoint_name(step) + "/" + notes_file;
  }

  scenario in_;
  sample::scratch place_{place()};
  std::string prepared_, run_;
};

/// Divides work between two processes: `work(first, stride, say)` does every `stride`-th part from `first` on and says
/// what is wrong. Returns all that is said.
template <class Work>
std::vector<std::string> divide(const Work& work) {
  constexpr unsigned stride = 2;
  std::array<tests::channel, stride> said;
  std::array<pid_t, stride> workers{};
  for (unsigned first = 0; first < stride; ++first)
    workers[first] = tests::start_child(said[first], [&](const tests::channel& to) {
      try {
        work(first, stride, [&](const std::string& line) { to.send(line + "\n"); });
      } catch (const std::exception& cause) {
        to.send(std::string(cause.what()) + "\n");
      }
    });
  std::vector<std::string> all;
  for (unsigned each = 0; each < stride; ++each) {
    std::istringstream lines(said[each].receive_all());
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    int status = 0;
    ::waitpid(workers[each], &status, 0);
    if (status != 0) all.push_back("the process of the test itself ended with status " + std::to_string(status));
  }
  return all;
}

/// What the traced process tells, in memory that outlives it.
struct testimony {
  std::atomic<std::uint64_t> published{0};  ///< the newest step that was told to be published
  std::atomic<std::uint64_t> returned{
      0};                             ///< a bit for every step whose save returned, or was published in the background
  std::atomic<unsigned> errors{0};    ///< that surfaced
  std::atomic<unsigned> failures{0};  ///< that the observer received; for removals there is no other report
  std::atomic<pid_t> child{0};        ///< of the traced process, if it has one
  std::atomic<std::uint64_t> restored{0};  ///< the step that a restore has loaded
  char last_error[400] = {};
  char problem[400] = {};  ///< the first thing that must not be

  void end_child() const {
    if (child != 0) ::kill(child, SIGKILL);
  }
  void object(const std::string& what) { keep(what, problem); }
  void note(const std::string& what) {
    ++errors;
    last_error[0] = 0;
    keep(what, last_error);
  }

 private:
  template <std::size_t Size>
  static void keep(const std::string& what, char (&text)[Size]) {
    if (text[0] == 0) std::strncpy(text, what.c_str(), Size - 1);
  }
};

/// The saves of a scenario, step by step, in the traced process.
class performance {
 public:
  performance(const stage& on, const std::string& root, testimony& told) : on_(on), told_(told) {
    auto options = on.in().options();
    options.on_event = [&told, behind = on.in().behind](const cairn::event& what) {
      told.failures += what.what == cairn::event::kind::failed;
      if (what.what != cairn::event::kind::published) return;
      told.published = what.step;
      if (behind) told.returned |= std::uint64_t{1} << what.step;
    };
    run_ = std::make_unique<cairn::checkpointer>(root, std::move(options));
  }

  [[nodiscard]] cairn::checkpointer& run() noexcept { return *run_; }

  void restore() {
    auto state = trained(on_.in(), 0);
    if (const auto report = run_->restore(state, {.threads = 1})) told_.restored = report->step;
  }

  void save(std::uint64_t step, bool again = false) {
    run_->save(trained(on_.in(), step, again), {.step = step});
    told_.returned |= std::uint64_t{1} << step;
  }

  /// Everything, with `attempt` around each part of it.
  template <class Attempt>
  void play(const Attempt& attempt) {
    const auto& in = on_.in();
    if (in.begins == opening::restored) restore();
    if (in.forks) fork();
    std::vector<chain::state> states;
    for (const auto step : in.saved) states.push_back(trained(in, step, in.replaces(step)));
    tracer::begin();
    if (in.begins == opening::restoring) attempt([&] { restore(); });
    for (std::size_t i = 0; i < states.size(); ++i)
      attempt([&] {
        if (in.behind) {
          std::ignore = run_->step(states[i], {.step = in.saved[i]});
          return;
        }
        run_->save(states[i], {.step = in.saved[i]});
        told_.returned |= std::uint64_t{1} << in.saved[i];
      });
    attempt([&] { run_->wait(); });
    if (in.ends) attempt([&] { run_->save(states.back(), {.step = in.saved.back()}); });
  }

  /// A child that does nothing, until somebody ends it.
  void fork() {
    const pid_t child = ::fork();
    if (child == 0)
      while (true) ::pause();
    told_.child = child;
  }

  /// The traced part ends with the checkpointer.
  void close() {
    run_.reset();
    tracer::end();
  }

 private:
  const stage& on_;
  testimony& told_;
  std::unique_ptr<cairn::checkpointer> run_;
};

/// What is wrong after a process that met a fault and then saved the step after the scenario's last one, which `fresh`
/// restores; empty when all is well. `status`: of the process.
inline std::string later_save_problem(const stage& on, const testimony& told, int status, cairn::checkpointer& fresh) {
  if (status != 0) return "the process ended with status " + std::to_string(status);
  if (told.problem[0] != 0) return std::string(told.problem) + " [" + told.last_error + "]";
  auto state = trained(on.in(), 0);
  const auto report = fresh.restore(state, {.threads = 1});
  if (!report || report->step != on.in().last() + 1) return "the later save is not restored";
  if (!report->skipped.empty()) return "passed over: " + report->skipped.front().reason;
  return {};
}

}  // namespace durability
