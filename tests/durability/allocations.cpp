// SPDX-License-Identifier: MIT
// Allocations that fail: each of a save, a merge, a restore and a removal in turn. The call says so, nothing that is
// published is harmed, and the next save does well.
#include "cairn/checkpointer.hpp"

#include <sys/wait.h>

#include "catch.hpp"
#include "durability/scenarios.hpp"

namespace {

/// Of all threads.
struct allocations {
  std::atomic<bool> counts{false};
  std::atomic<std::uint64_t> made{0}, fails_at{0}, failed{0};

  bool fail() {
    if (!counts) return false;
    const auto number = ++made;
    if (number != fails_at) return false;
    ++failed;
    errno = ENOMEM;
    return true;
  }
};
allocations heap;  // NOLINT

}  // namespace

extern "C" {

// Those of glibc, below the names that this program replaces.
void* __libc_malloc(std::size_t bytes);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t bytes);        // NOLINT
void* __libc_realloc(void* old, std::size_t bytes);               // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t bytes);  // NOLINT

void* malloc(std::size_t bytes) noexcept { return heap.fail() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return heap.fail() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept { return heap.fail() ? nullptr : __libc_realloc(old, bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return heap.fail() ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
  if (heap.fail()) return ENOMEM;
  *to = __libc_memalign(alignment, bytes);
  return *to != nullptr ? 0 : ENOMEM;
}

}  // extern "C"

namespace {

using durability::stage;

/// In a process of its own.
void live_through(const stage& on, std::uint64_t at, durability::testimony& told, std::uint64_t& failed) {
  durability::performance run(on, on.enter(), told);
  heap.fails_at = at;
  run.play([&](const auto& part) {
    std::string problem;
    try {
      heap.counts = true;
      part();
      heap.counts = false;
    } catch (const cairn::error& cause) {
      heap.counts = false;
      told.note(cause.what());
    } catch (const std::bad_alloc&) {  // there is no memory for a sentence either
      heap.counts = false;
      told.note("no memory");
    } catch (const std::exception& cause) {
      heap.counts = false;
      told.object(std::string("an exception of another kind: ") + cause.what());
    }
  });
  failed = heap.failed;
  try {
    run.run().wait();  // where the last call had no memory, the background may still remove what is compared here
  } catch (const cairn::error& cause) {
    told.note(cause.what());
  }
  for (const auto step : durability::steps_in(on.root())) {
    const auto name = cairn::detail::checkpoint_name(step);
    const auto store = durability::store_at(on.root());
    auto problem = durability::compare(store, name, durability::trained(on.in(), step));
    if (!problem.empty() && on.in().replaces(step))
      problem = durability::compare(store, name, durability::trained(on.in(), step, true));
    if (!problem.empty()) told.object(problem);
  }
  if (told.errors == 0 && told.failures == 0 && told.published < on.in().saved.back())
    told.object("no error, and no checkpoint");
  try {
    run.save(on.in().last() + 1);
    run.run().wait();
  } catch (const std::exception& cause) {
    told.object(std::string("a later save: ") + cause.what());
  }
}

/// What is wrong; empty when all is well. `failed`: how many allocations failed.
std::string meet(const stage& on, std::uint64_t at, std::uint64_t& failed) {
  const tracer::shared<durability::testimony> told;
  const tracer::shared<std::uint64_t> counted;
  on.set_up();
  tests::channel said;
  const pid_t child = tests::start_child(said, [&](const tests::channel&) {
    ::alarm(30);
    live_through(on, at, *told, *counted);
  });
  int status = 0;
  ::waitpid(child, &status, 0);
  failed = *counted;
  if (status != 0) failed = 1;
  cairn::checkpointer fresh(on.root(), on.in().options());
  return durability::later_save_problem(on, *told, status, fresh);
}

}  // namespace

TEST_CASE("an allocation fails") {
  const auto* const name = GENERATE("first", "replace", "merge", "prune deltas", "resume", "parts");
  const bool behind = GENERATE(false, true);
  const tracer::shared<std::atomic<std::uint64_t>> runs;
  const auto problems = durability::divide([&](unsigned first, unsigned stride, const auto& say) {
    const stage on(durability::make_scenario(name, false, behind));
    const std::uint64_t step = stride * (durability::is_long() ? 1 : 5);
    std::uint64_t failed = 1;
    for (std::uint64_t at = 1 + first; failed > 0; at += step, ++*runs)
      if (const auto problem = meet(on, at, failed); !problem.empty())
        say("allocation " + std::to_string(at) + ": " + problem);
  });
  std::size_t shown = 0;
  for (const auto& problem : problems)
    if (++shown < 6) UNSCOPED_INFO(problem);
  INFO(name << (behind ? ", in the background" : ""));
  CHECK(problems.size() == 0);
  CHECK(*runs > 10);
  std::printf("allocations: %s%s, %llu runs, %zu wrong\n", name, behind ? ", in the background" : "",
              static_cast<unsigned long long>(*runs), problems.size());
}
