// SPDX-License-Identifier: MIT
#include "cairn/signals.hpp"

#include <pthread.h>

#include "cairn/checkpointer.hpp"
#include "cairn/trainer/signal_watch.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"
#include "child.hpp"

namespace {

const std::vector<int> tried{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGRTMIN + 1, SIGRTMAX};

std::atomic<int> own_calls{0};
void own_handler(int) { ++own_calls; }
void other_handler(int) {}

struct sigaction disposition(int number) {
  struct sigaction current{};
  REQUIRE(::sigaction(number, nullptr, &current) == 0);
  return current;
}

auto handler_of(int number) { return disposition(number).sa_handler; }

/// Puts handlers in place, and what was there before back.
class handlers {
 public:
  handlers() {
    for (const int number : tried) before_.push_back(disposition(number));
  }
  handlers(const handlers&) = delete;
  handlers& operator=(const handlers&) = delete;
  ~handlers() {
    for (std::size_t i = 0; i < tried.size(); ++i) ::sigaction(tried[i], &before_[i], nullptr);
  }
  static void put(int number, void (*handler)(int), int flags = 0) {
    struct sigaction made{};
    made.sa_handler = handler;
    made.sa_flags = flags;
    sigaddset(&made.sa_mask, SIGWINCH);
    REQUIRE(::sigaction(number, &made, nullptr) == 0);
  }

 private:
  std::vector<struct sigaction> before_;
};

std::string status(int signal) { return "the child ended with status " + std::to_string(signal); }

}  // namespace

TEST_CASE("a set of no signals receives none") {
  const cairn::signals none;
  const cairn::signals copy = none;
  CHECK_FALSE(copy.received());
  CHECK(none.number() == 0);
  CHECK(none.seconds_since() == 0);
  CHECK_FALSE(cairn::signals({}).received());
}

TEST_CASE("the first signal is noticed; all of the set then do what they did before, and the same when the set goes") {
  const handlers restore_all;
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> numbers = tried;
    std::shuffle(numbers.begin(), numbers.end(), random);
    for (const int number : numbers)
      handlers::put(number, std::vector{SIG_DFL, SIG_IGN, &own_handler}[random() % 3], random() % 2 ? SA_RESTART : 0);
    std::vector<struct sigaction> before;
    for (const int number : numbers) before.push_back(disposition(number));
    {
      auto set =
          std::make_unique<cairn::signals>(std::initializer_list<int>{numbers[0], numbers[1], numbers[0], numbers[2]});
      auto copy = *set;
      CHECK(handler_of(numbers[2]) == &cairn::detail::on_signal);
      CHECK((disposition(numbers[2]).sa_flags & SA_RESTART) != 0);
      CHECK(handler_of(numbers[3]) == before[3].sa_handler);
      set.reset();
      CHECK(handler_of(numbers[0]) == &cairn::detail::on_signal);
      if (round % 2 == 0) {
        CHECK_FALSE(copy.received());
        CHECK(copy.seconds_since() == 0);
        const int number = numbers[random() % 3];
        const int calls = own_calls;
        const auto start = std::chrono::steady_clock::now();
        ::raise(number);
        CHECK(copy.received());
        CHECK(copy.number() == number);
        const double seconds = copy.seconds_since();
        CHECK(seconds >= 0);
        CHECK(copy.seconds_since() >= seconds);
        CHECK(seconds <= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        CHECK(own_calls == calls);
        for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(handler_of(numbers[i]) == before[i].sa_handler);
      }
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto after = disposition(numbers[i]);
      CHECK(after.sa_handler == before[i].sa_handler);
      CHECK(after.sa_flags == before[i].sa_flags);
      CHECK(sigismember(&after.sa_mask, SIGWINCH) == 1);
    }
  }
}

TEST_CASE("a handler of a set interrupts no system call and is not interrupted by the other signals of the set") {
  const handlers restore_all;
  const cairn::signals both{SIGUSR1, SIGTERM};
  for (const int number : {SIGUSR1, SIGTERM}) {
    const auto current = disposition(number);
    CHECK((current.sa_flags & (SA_RESTART | SA_ONSTACK)) == (SA_RESTART | SA_ONSTACK));
    for (const int other : {SIGUSR1, SIGTERM}) CHECK(sigismember(&current.sa_mask, other) == 1);
    CHECK(sigismember(&current.sa_mask, SIGUSR2) == 0);
  }
}

TEST_CASE("a second signal is as without us: the program's handler, nothing, or the end") {
  const handlers restore_all;
  handlers::put(SIGUSR1, &own_handler);
  handlers::put(SIGUSR2, SIG_IGN);
  const cairn::signals set{SIGTERM, SIGUSR1, SIGUSR2};
  const int calls = own_calls;
  ::raise(SIGUSR2);
  ::raise(SIGUSR2);
  ::raise(SIGUSR1);
  ::raise(SIGUSR1);
  CHECK(own_calls == calls + 2);
  CHECK(set.number() == SIGUSR2);

  for (const auto& pair : {std::pair{SIGTERM, SIGTERM}, {SIGINT, SIGTERM}, {SIGTERM, SIGINT}}) {
    const auto ended = tests::in_child([&] {
      ::signal(SIGTERM, SIG_DFL);
      ::signal(SIGINT, SIG_DFL);
      const cairn::signals own{SIGINT, SIGTERM};
      ::raise(pair.first);
      if (!own.received()) ::_exit(1);
      ::raise(pair.second);
    });
    CHECK(ended.sentence == status(pair.second));
  }
}

TEST_CASE("in a forked child signals do what they did before the set") {
  const handlers before;
  ::signal(SIGTERM, SIG_DFL);
  const cairn::signals set{SIGTERM, SIGUSR1};
  const auto ended = tests::in_child([] { ::raise(SIGTERM); });
  CHECK(ended.sentence == status(SIGTERM));
  CHECK_FALSE(set.received());
}

TEST_CASE("a handler that was installed over ours stays, and may call ours") {
  const handlers restore_all;
  handlers::put(SIGUSR2, SIG_IGN);
  {
    const cairn::signals set{SIGUSR1, SIGUSR2};
    handlers::put(SIGUSR1, &other_handler);
    ::raise(SIGUSR2);
    CHECK(set.received());
    CHECK(handler_of(SIGUSR1) == &other_handler);
  }
  CHECK(handler_of(SIGUSR1) == &other_handler);
  {
    const cairn::signals set{SIGUSR1};
    static struct sigaction ours;
    ours = disposition(SIGUSR1);
    handlers::put(SIGUSR1, [](int number) { ours.sa_handler(number); });
    ::raise(SIGUSR1);
    CHECK(set.number() == SIGUSR1);
    ::raise(SIGUSR1);  // neither for ever nor the end
  }
  ::raise(SIGUSR1);
}

TEST_CASE("what cannot be handled is refused by its number, and nothing is changed") {
  const handlers restore_all;
  handlers::put(SIGUSR1, &own_handler);
  for (const int number : {SIGKILL, SIGSTOP, 0, -1, 999, NSIG}) {
    const auto failure = sample::failure_of([&] { const cairn::signals set{SIGUSR1, number}; });
    CHECK(failure.code == cairn::errc::invalid);
    CHECK(failure.says("signal " + std::to_string(number) + " "));
    CHECK(handler_of(SIGUSR1) == &own_handler);
  }
  const cairn::signals set{SIGUSR1};  // and it is free
}

TEST_CASE("a signal belongs to one set at a time, until that one has received") {
  const handlers restore_all;
  handlers::put(SIGUSR1, &own_handler);
  handlers::put(SIGUSR2, &other_handler);
  auto first = std::make_unique<cairn::signals>(std::initializer_list<int>{SIGUSR1});
  const auto failure = sample::failure_of([] { const cairn::signals set{SIGUSR2, SIGUSR1}; });
  CHECK(failure.code == cairn::errc::invalid);
  CHECK(failure.says("signal " + std::to_string(SIGUSR1) + " "));
  CHECK(handler_of(SIGUSR2) == &other_handler);
  ::raise(SIGUSR1);
  CHECK(first->received());

  {
    const cairn::signals second{SIGUSR1, SIGUSR2};
    CHECK_FALSE(second.received());
    first.reset();  // leaves the newer one alone
    CHECK(handler_of(SIGUSR1) == &cairn::detail::on_signal);
    ::raise(SIGUSR1);
    CHECK(second.received());
  }
  CHECK(handler_of(SIGUSR1) == &own_handler);
  CHECK(handler_of(SIGUSR2) == &other_handler);
}

TEST_CASE("two checkpointers with one set of signals both save and stop") {
  const handlers restore_all;
  const cairn::signals set{SIGUSR1};
  const cairn::stores::memory model_store, buffer_store;
  cairn::checkpointer model{model_store, {.preempt = set}}, buffer{buffer_store, {.preempt = set}};
  const std::vector<float> state{1, 2};
  CHECK_FALSE(model.step(state, {.step = 1}).stop);
  std::raise(SIGUSR1);
  CHECK(model.step(state, {.step = 2}).stop);
  CHECK(buffer.step(state, {.step = 2}).stop);
  for (const auto& store : {model_store, buffer_store}) {
    std::vector<float> loaded;
    CHECK(cairn::checkpointer{store}.restore(loaded));
    CHECK(loaded == state);
  }
}

TEST_CASE("one set receives once, however many threads get signals; the others go to the program") {
  const handlers restore_all;
  for (int round = 0; round < 200; ++round) {
    for (const int number : tried) handlers::put(number, &own_handler);
    const cairn::signals set{SIGUSR1, SIGUSR2, SIGTERM, SIGINT};
    const int calls = own_calls;
    const std::vector<int> sent{SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGUSR1};
    std::vector<std::thread> threads;
    for (const int number : sent) threads.emplace_back([number] { ::raise(number); });
    for (auto& each : threads) each.join();
    CHECK(set.received());
    CHECK(own_calls < calls + static_cast<int>(sent.size()));
    for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT}) CHECK(handler_of(number) == &own_handler);
  }
}

TEST_CASE("a set is installed and freed only while no handler runs") {
  const handlers restore_all;
  handlers::put(SIGUSR1, &own_handler);
  auto& process = cairn::detail::signals_of_process;
  const auto stays_as_it_is = [](auto&& condition) {
    for (int i = 0; i < 50; ++i) {
      if (!condition()) return false;
      std::this_thread::yield();
    }
    return true;
  };
  bool waited = false;
  // A set waits for a second at most, which a busy machine may exceed: then once more.
  for (int attempt = 0; attempt < 10 && !waited; ++attempt) {
    process.handling.fetch_add(1);  // as if a handler had begun
    std::unique_ptr<cairn::signals> set;
    std::thread installer([&] { set = std::make_unique<cairn::signals>(std::initializer_list<int>{SIGUSR1}); });
    while (process.watch[SIGUSR1].load() == nullptr) std::this_thread::yield();
    waited = stays_as_it_is([&] { return handler_of(SIGUSR1) == &own_handler; });
    process.handling.fetch_sub(1);
    installer.join();
    CHECK(handler_of(SIGUSR1) == &cairn::detail::on_signal);

    process.handling.fetch_add(1);
    std::atomic<bool> dropped{false};
    std::thread dropper([&] {
      set.reset();
      dropped = true;
    });
    while (process.watch[SIGUSR1].load() != nullptr) std::this_thread::yield();
    waited = waited && stays_as_it_is([&] { return !dropped; });
    process.handling.fetch_sub(1);
    dropper.join();
    CHECK(handler_of(SIGUSR1) == &own_handler);
  }
  CHECK(waited);
}

TEST_CASE("sets come and go while signals arrive, and each receives one") {
  const handlers restore_all;
  handlers::put(SIGUSR1, &own_handler);
  handlers::put(SIGUSR2, &own_handler);
  std::atomic<bool> done{false};
  std::vector<std::thread> senders;
  for (int i = 0; i < 2; ++i)
    senders.emplace_back([&] {
      while (!done) {
        ::raise(SIGUSR1);
        ::raise(SIGUSR2);
        std::this_thread::yield();
      }
    });
  bool all = true;
  for (int round = 0; round < 3'000 && all; ++round) {  // on a busy machine each may take the scheduler's time slice
    const cairn::signals set{SIGUSR1, SIGUSR2};
    if (round % 3 != 0) continue;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!set.received() && all) {
      std::this_thread::yield();
      all = std::chrono::steady_clock::now() < end;
    }
  }
  done = true;
  for (auto& each : senders) each.join();
  CHECK(all);
  CHECK(handler_of(SIGUSR1) == &own_handler);
  CHECK(handler_of(SIGUSR2) == &own_handler);
}

TEST_CASE("a second signal that overtakes the handler of the first is delivered again") {
  const handlers restore_all;
  handlers::put(SIGUSR1, &own_handler);
  handlers::put(SIGUSR2, &own_handler);
  const cairn::signals set{SIGUSR1, SIGUSR2};
  const auto ours = disposition(SIGUSR1);
  ::raise(SIGUSR1);
  REQUIRE(::sigaction(SIGUSR2, &ours, nullptr) == 0);  // as if the first handler had not come so far yet
  const int calls = own_calls;
  ::raise(SIGUSR2);
  CHECK(own_calls == calls + 1);
  CHECK(set.number() == SIGUSR1);
}

TEST_CASE("a handler keeps errno, for a program that it interrupts between a call and the look at its error") {
  cairn::detail::signal_watch watch{SIGUSR1, NSIG};  // not installed; the system refuses NSIG, which sets errno
  auto& watched = cairn::detail::signals_of_process.watch[SIGUSR1];
  watched.store(&watch);
  errno = ENOENT;
  cairn::detail::on_signal(SIGUSR1);
  const int kept = errno;
  watched.store(nullptr);
  CHECK(watch.number() == SIGUSR1);
  CHECK(kept == ENOENT);
}
