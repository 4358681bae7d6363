// SPDX-License-Identifier: MIT
// Runs the threads of a test one at a time, in an order that the test chooses: any of their interleavings can be had,
// and had again.
#pragma once

#include "cairn/core/error.hpp"
#include "interleavings/fiber.hpp"
#include "standard.hpp"

namespace interleavings {

/// How a thread waits.
enum class patience {
  forever,         ///< for another thread of its process
  while_it_helps,  ///< for another process; it gives up when no thread can run
};

/// The thread that has the token runs; all others wait for it. A thread passes it on where it calls a member function.
/// Time passes only while a thread sleeps, or when one gives up. Threads belong to processes. Those of a process that
/// is killed stop where they are; when all others have ended they go on, and `yield`, and a wait for another process,
/// throw.
class scheduler {
 public:
  /// A thread that may run next.
  struct candidate {
    std::size_t thread = 0;
    bool is_asleep = false;
  };
  /// Chooses one of several candidates, of which the first is the thread that has the token, if it can run. The others
  /// follow in a fixed order, and then those that sleep, who would run next if time passed.
  using chooser = std::function<std::size_t(std::span<const candidate>)>;

  /// `about`: what is printed if the threads are stuck, which ends the program.
  scheduler(chooser choose, std::string about) : choose_(std::move(choose)), about_(std::move(about)) {}
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// The scheduler of the calling thread; null: it has none.
  [[nodiscard]] static scheduler* of_this_thread() noexcept { return running_; }

  /// A new thread.
  std::size_t start(unsigned process, std::string name, std::function<void()> work) {
    threads_.push_back(std::make_unique<controlled>(process, std::move(name)));
    auto& made = *threads_.back();
    made.runs = std::make_unique<fiber>([this, &made, act = std::move(work)] {
      act();
      made.is = state::ended;
      pass_on();
    });
    return threads_.size() - 1;
  }

  /// Process `which` is killed when `after` calls have been made.
  void kill(unsigned which, std::size_t after) { kill_ = {which, after}; }

  /// Returns when all threads have ended. Call it once.
  void run() {
    running_ = this;
    pass_on();
    running_ = nullptr;
  }

  // In a thread of the scheduler:
  /// Another thread may run.
  void yield(const char* at) {
    enter(state::ready, at);
    pass_on();
    fail_if_killed();
  }
  /// Returns when `is_over`, or when the thread has given up.
  void wait(const char* at, const std::function<bool()>& is_over, patience how) {
    auto& self = enter(state::waiting, at);
    self.is_over = is_over;
    self.how = how;
    pass_on();
    if (how == patience::while_it_helps) fail_if_killed();
  }
  /// Sleeps.
  void pause(double seconds) {
    auto& self = enter(state::asleep, "a pause");
    self.wakes = now_ + seconds;
    pass_on();
  }

  [[nodiscard]] double now() const noexcept { return now_; }
  [[nodiscard]] std::size_t calls() const noexcept { return calls_; }
  [[nodiscard]] bool has_ended(std::size_t thread) const { return threads_[thread]->is == state::ended; }
  [[nodiscard]] bool is_killed(unsigned process) const { return killed_ == process; }
  [[nodiscard]] unsigned process_of_this_thread() const { return threads_[*holder_]->process; }

 private:
  enum class state { ready, waiting, asleep, ended };

  struct controlled {
    controlled(unsigned of, std::string called) : process(of), name(std::move(called)) {}
    unsigned process;
    std::string name;
    state is = state::ready;
    const char* at = "its begin";
    std::function<bool()> is_over{};
    patience how{};
    double wakes = 0;
    std::unique_ptr<fiber> runs{};
  };

  controlled& enter(state next, const char* at) {
    auto& self = *threads_[*holder_];
    self.is = next;
    self.at = at;
    return self;
  }

  /// Gives the token to the thread that is to run next, or to `run` when all have ended. Returns when it comes back.
  void pass_on() {
    constexpr std::size_t most_calls = 200'000;
    if (++calls_ > most_calls) stuck("they do not end");
    if (kill_ && calls_ > kill_->second) killed_ = std::exchange(kill_, std::nullopt)->first;
    const auto next = pick();
    const auto from = std::exchange(holder_, next);
    if (next) threads_[*next]->is = state::ready;
    if (from == next) return;
    const bool has_ended = from && threads_[*from]->is == state::ended;
    fiber_of(from).switch_to(fiber_of(next), has_ended);
  }
  [[nodiscard]] fiber& fiber_of(std::optional<std::size_t> thread) { return thread ? *threads_[*thread]->runs : main_; }

  void fail_if_killed() const {
    if (is_unwinding_) cairn::fail(cairn::errc::io, {"the process was killed"});
  }

  [[nodiscard]] bool takes_part(const controlled& each) const {
    return each.is != state::ended && (killed_ == each.process) == is_unwinding_;
  }
  [[nodiscard]] bool can_run(const controlled& each) const {
    if (each.is != state::waiting) return each.is == state::ready;
    return (is_unwinding_ && each.how != patience::forever) || each.is_over();
  }

  /// The number of the thread that runs next; none when all have ended.
  std::optional<std::size_t> pick() {
    std::vector<candidate> found;
    std::vector<std::tuple<double, std::size_t, std::size_t>>
        asleep;  // when it wakes, its place in the order, its number
    std::optional<std::size_t> impatient;
    bool is_any_left = false;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const auto number = (holder_.value_or(0) + i) % threads_.size();
      const auto& each = *threads_[number];
      if (!takes_part(each)) continue;
      is_any_left = true;
      if (can_run(each))
        found.push_back({number});
      else if (each.is == state::asleep)
        asleep.emplace_back(each.wakes, i, number);
      else if (each.how == patience::while_it_helps && !impatient)
        impatient = number;
    }
    std::sort(asleep.begin(), asleep.end());
    for (const auto& [wakes, place, number] : asleep) found.push_back({number, true});
    if (found.empty()) {
      if (!is_any_left) {
        if (!killed_ || is_unwinding_) return std::nullopt;
        is_unwinding_ = true;
        return pick();
      }
      if (!impatient) stuck("none can run");
      constexpr double long_time = 3600;
      now_ += long_time;
      return impatient;
    }
    const auto& chosen = found[found.size() > 1 && !is_unwinding_ ? choose_(found) : 0];
    if (chosen.is_asleep) now_ = std::max(now_, threads_[chosen.thread]->wakes);
    return chosen.thread;
  }

  [[noreturn]] void stuck(const char* why) const {
    std::fprintf(stderr, "The threads are stuck: %s.\n%s\n", why, about_.c_str());
    for (const auto& each : threads_)
      if (each->is != state::ended)
        std::fprintf(stderr, "  %s%s: %s\n", each->name.c_str(), killed_ == each->process ? ", killed" : "", each->at);
    std::_Exit(1);
  }

  chooser choose_;
  std::string about_;
  std::vector<std::unique_ptr<controlled>> threads_;
  std::optional<std::size_t> holder_{};  // of the token; none: `run`
  std::size_t calls_ = 0;
  double now_ = 0;  // seconds
  std::optional<std::pair<unsigned, std::size_t>> kill_{};
  std::optional<unsigned> killed_{};
  bool is_unwinding_ = false;
  fiber main_;  // that of `run`
  static inline scheduler* running_ = nullptr;
};

}  // namespace interleavings
