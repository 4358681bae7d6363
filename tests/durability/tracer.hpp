// SPDX-License-Identifier: MIT
// Runs an action in a process under ptrace: lists its system calls, kills it at one, makes one fail or come short.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <sys/reg.h>
#define CAIRN_CAN_CHANGE_CALLS 1
#endif

#include "standard.hpp"

namespace tracer {

/// A system call as a thread makes it.
struct call {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

namespace detail {

enum class length : std::uint8_t { none, bytes, vectors, entries };  // what argument 2 counts, where it does

struct file_call {
  std::uint64_t number;
  std::string_view name;
  length counts = length::none;
};

#define CALL(name, ...) {SYS_##name, #name __VA_OPT__(, ) __VA_ARGS__}
inline constexpr file_call file_calls[] = {
#if defined(__x86_64__)
    CALL(open),
    CALL(creat),
    CALL(stat),
    CALL(lstat),
    CALL(access),
    CALL(mkdir),
    CALL(rmdir),
    CALL(unlink),
    CALL(rename),
    CALL(link),
    CALL(readlink),
#endif
    CALL(openat),
    CALL(openat2),
    CALL(close),
    CALL(read, length::bytes),
    CALL(pread64, length::bytes),
    CALL(readv, length::vectors),
    CALL(preadv, length::vectors),
    CALL(write, length::bytes),
    CALL(pwrite64, length::bytes),
    CALL(writev, length::vectors),
    CALL(pwritev, length::vectors),
    CALL(getdents64, length::entries),
    CALL(newfstatat),
    CALL(fstat),
    CALL(statx),
    CALL(statfs),
    CALL(fstatfs),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(readlinkat),
    CALL(mkdirat),
    CALL(unlinkat),
    CALL(renameat),
    CALL(renameat2),
    CALL(linkat),
    CALL(truncate),
    CALL(ftruncate),
    CALL(fallocate),
    CALL(copy_file_range),
    CALL(lseek),
    CALL(fsync),
    CALL(fdatasync),
    CALL(syncfs),
    CALL(sync_file_range),
    CALL(msync),
    CALL(fadvise64),
    CALL(flock),
    CALL(fcntl),
    CALL(ioctl),
    CALL(mmap)};
#undef CALL

inline const file_call* find(const call& made) {
  for (const auto& each : file_calls)
    if (each.number == made.number) return &each;
  return nullptr;
}

}  // namespace detail

/// Whether a call is about files, as against memory, threads and time.
[[nodiscard]] inline bool is_about_files(const call& made) {
  if (made.number == SYS_mmap) return static_cast<int>(made.arguments[4]) >= 0;
  return detail::find(made) != nullptr;
}

/// Whether a call can do less than it was asked for.
[[nodiscard]] inline bool can_come_short(const call& made) {
  const auto* known = detail::find(made);
  return known != nullptr && known->counts != detail::length::none;
}

[[nodiscard]] inline std::string name_of(const call& made) {
  const auto* known = detail::find(made);
  return known != nullptr ? std::string(known->name) : "call " + std::to_string(made.number);
}

/// What is done to the traced process.
struct plan {
  enum class kind : std::uint8_t {
    list,        ///< nothing: its calls are listed
    kill,        ///< all its threads are killed when it enters its `at`-th call, which is not done
    fail,        ///< its `at`-th call about files is not done and gives `error`; close is done all the same
    fail_after,  ///< its `at`-th call about files is done and gives `error`, unless it fails itself
    shorten      ///< its `at`-th call about files is done by half
  };

  kind what = kind::list;
  std::uint64_t at = 0;  ///< from 1 on
  int error = 0;
  /// Not null: instead of the `at`-th call, all that it returns true for; after one that fails, the next of the thread
  /// is done.
  bool (*selects)(const call& made) = nullptr;
  /// Not null: what happens to the `at`-th call about files, or to the first one after it, that `lasts` returns true
  /// for happens to all that follow, too.
  bool (*lasts)(const call& made) = nullptr;

  [[nodiscard]] bool is_repeated() const noexcept { return selects != nullptr || lasts != nullptr; }
};

/// What became of it.
struct outcome {
  std::vector<call> calls;  ///< all between the marks
  std::size_t faults = 0;   ///< calls to which what was planned has happened; `at` is the first of them
  call at{};
  std::string path{};  ///< that the call `at` names, where it names one
  int status = 0;      ///< as waitpid has it

  [[nodiscard]] bool was_killed() const noexcept { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }
  [[nodiscard]] bool has_hung() const noexcept { return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM; }
  [[nodiscard]] bool has_ended_well() const noexcept { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

/// What lies between these two of the traced process's first thread counts. Signals that are ignored by default: only
/// the tracer minds them.
inline void begin() { ::syscall(SYS_tgkill, ::getpid(), ::getpid(), SIGURG); }
inline void end() { ::syscall(SYS_tgkill, ::getpid(), ::getpid(), SIGWINCH); }

namespace detail {

/// One traced process, from its start to its end.
class tracing {
 public:
  tracing(pid_t child, const plan& what) : child_(child), plan_(what) {}

  /// Takes the child over; false where that is not allowed.
  [[nodiscard]] bool seize() const {
    constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    if (::ptrace(PTRACE_SEIZE, child_, nullptr, options) != 0) return false;
    if (::ptrace(PTRACE_INTERRUPT, child_, nullptr, nullptr) != 0) return false;
    int status = 0;
    while (::waitpid(child_, &status, __WALL) < 0 && errno == EINTR) {
    }
    return WIFSTOPPED(status) && ::ptrace(PTRACE_CONT, child_, nullptr, nullptr) == 0;
  }

  /// Until the last thread has ended.
  [[nodiscard]] outcome follow() {
    while (true) {
      int status = 0;
      const pid_t thread = ::waitpid(-child_, &status, __WALL);
      if (thread < 0 && errno == EINTR) continue;
      if (thread < 0) return result_;
      if (!WIFSTOPPED(status)) {
        if (thread == child_) result_.status = status;
        continue;
      }
      const int signal = WSTOPSIG(status);
      const bool is_call = signal == (SIGTRAP | 0x80), is_event = (status >> 16) != 0,
                 is_mark = at_mark(signal, thread);
      threads_.insert(thread);
      if (is_call) at_call(thread);
      // What follows is of no interest after the marks, nor when what was planned is done.
      const bool stops = counting_ && (result_.faults == 0 || plan_.is_repeated() || !changed_.empty());
      ::ptrace(stops ? PTRACE_SYSCALL : PTRACE_CONT, thread, nullptr,
               is_call || is_event || is_mark ? 0L : static_cast<long>(signal));
    }
  }

 private:
  [[nodiscard]] bool at_mark(int signal, pid_t thread) {
    if (signal != SIGURG && signal != SIGWINCH) return false;
    counting_ = signal == SIGURG;
    for (const pid_t other : threads_)  // those that wait for work have not been stopped at their calls
      if (counting_ && other != thread) ::ptrace(PTRACE_INTERRUPT, other, nullptr, nullptr);
    return true;
  }

  void at_call(pid_t thread) {
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_EXIT) leave(thread);
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    call made{info.entry.nr, {}};
    for (std::size_t i = 0; i < made.arguments.size(); ++i) made.arguments[i] = info.entry.args[i];
    if (counting_ && made.number != SYS_getpid && made.number != SYS_tgkill) enter(thread, made);
  }

  void enter(pid_t thread, const call& made) {
    if (result_.faults > 0 && !plan_.is_repeated()) return;
    result_.calls.push_back(made);
    if (!count(thread, made)) return;
    if (++result_.faults == 1) {
      result_.at = made;
      result_.path = path_of(thread, made);
    }
    using kind = plan::kind;
    if (plan_.what == kind::kill) ::kill(child_, SIGKILL);  // a call that has been entered is then not done
#if defined(CAIRN_CAN_CHANGE_CALLS)
    if (plan_.what == kind::fail || plan_.what == kind::fail_after) {
      changed_[thread] = {};
      if (made.number != SYS_close && plan_.what == kind::fail) set(thread, ORIG_RAX, ~0UL);
    }
    if (plan_.what == kind::shorten) shorten(thread, made);
#endif
  }

  /// Counts the call. Returns whether something is planned for it.
  [[nodiscard]] bool count(pid_t thread, const call& made) {
    using kind = plan::kind;
    if (plan_.what == kind::list) return false;
    if (plan_.selects) {
      if (!plan_.selects(made) || failed_.erase(thread) > 0) return false;
      if (plan_.what == kind::fail) failed_.insert(thread);
      return true;
    }
    if (plan_.what != kind::kill && !is_about_files(made)) return false;
    ++count_;
    return plan_.lasts ? count_ >= plan_.at && plan_.lasts(made) : count_ == plan_.at;
  }

  [[nodiscard]] static std::string path_of(pid_t thread, const call& made) {
    const bool takes_path = made.number == SYS_openat || made.number == SYS_newfstatat || made.number == SYS_unlinkat ||
                            made.number == SYS_faccessat2 || made.number == SYS_renameat2 || made.number == SYS_mkdirat;
    char text[100] = {};
    const iovec here{text, sizeof text - 1}, there{reinterpret_cast<void*>(made.arguments[1]), sizeof text - 1};
    if (takes_path) static_cast<void>(::process_vm_readv(thread, &here, 1, &there, 1, 0));
    return text;
  }

#if defined(CAIRN_CAN_CHANGE_CALLS)
  static void set(pid_t thread, int which, std::uint64_t value) {
    ::ptrace(PTRACE_POKEUSER, thread, 8L * which, value);
  }

  void leave(pid_t thread) {
    const auto found = changed_.extract(thread);
    if (found.empty()) return;
    const change& was = found.mapped();
    const bool is_done = ::ptrace(PTRACE_PEEKUSER, thread, 8L * RAX, nullptr) >= 0;
    if (plan_.what == plan::kind::fail || (plan_.what == plan::kind::fail_after && is_done))
      set(thread, RAX, static_cast<std::uint64_t>(-static_cast<long>(plan_.error)));
    if (plan_.what == plan::kind::shorten) {
      set(thread, RDX, was.count);
      if (was.cut.iov_base != nullptr) store(thread, was.cut_at, was.cut);
    }
  }

  /// Half of what it was asked for; whole pages where it can be, as file systems do. Few entries of a directory.
  void shorten(pid_t thread, const call& made) {
    const auto half = [](std::uint64_t all) { return all > 4096 ? (all / 2 + 4095) / 4096 * 4096 : (all + 1) / 2; };
    const auto counts = find(made)->counts;
    change& now = changed_[thread] = {.count = made.arguments[2]};
    if (counts == length::bytes) set(thread, RDX, half(now.count));
    if (counts == length::entries) set(thread, RDX, std::uint64_t{96});
    if (counts != length::vectors) return;
    std::vector<iovec> vectors(now.count);
    load(thread, made.arguments[1], vectors);
    std::size_t all = 0, before = 0, last = 0;
    for (const auto& each : vectors) all += each.iov_len;
    const std::size_t wanted = half(all);
    while (before + vectors[last].iov_len < wanted) before += vectors[last++].iov_len;
    set(thread, RDX, last + 1);
    now.cut = vectors[last];
    now.cut_at = made.arguments[1] + last * sizeof(iovec);
    store(thread, now.cut_at, {now.cut.iov_base, wanted - before});
  }

  static void load(pid_t thread, std::uint64_t from, std::vector<iovec>& to) {
    const iovec here{to.data(), to.size() * sizeof(iovec)}, there{reinterpret_cast<void*>(from), here.iov_len};
    if (::process_vm_readv(thread, &here, 1, &there, 1, 0) != static_cast<ssize_t>(here.iov_len))
      throw std::runtime_error("the traced process cannot be read");
  }

  static void store(pid_t thread, std::uint64_t at, iovec value) {
    const iovec here{&value, sizeof value}, there{reinterpret_cast<void*>(at), sizeof value};
    if (::process_vm_writev(thread, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof value))
      throw std::runtime_error("the traced process cannot be written");
  }
#else
  void leave(pid_t) {}
#endif

  pid_t child_;
  plan plan_;
  outcome result_;
  bool counting_ = false;
  std::set<pid_t> threads_;
  std::uint64_t count_ = 0;
  /// What a call had before it was changed.
  struct change {
    std::uint64_t count = 0;   // its argument 2
    std::uint64_t cut_at = 0;  // address of the vector that was cut
    iovec cut{};
  };
  std::map<pid_t, change> changed_;  // the threads in calls that are changed
  std::set<pid_t> failed_;           // the threads whose last selected call failed
};

}  // namespace detail

/// Runs `action` in a process of its own, which ends with status 0 after it, with 4 where it throws, and with SIGALRM
/// when it takes more than `seconds`. Throws std::runtime_error where processes cannot be traced.
template <class Action>
outcome run(const plan& what, const Action& action, unsigned seconds = 60) {
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::setpgid(0, 0);
    ::close(gate[1]);
    if (::read(gate[0], &byte, 1) != 1) ::_exit(5);
    ::close(gate[0]);
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(seconds);
    try {
      action();
    } catch (...) {
      ::_exit(4);
    }
    ::_exit(0);
  }
  ::setpgid(child, child);
  ::close(gate[0]);
  detail::tracing traced(child, what);
  const bool seized = child > 0 && traced.seize();
  const int why = errno;
  const bool started = seized && ::write(gate[1], "", 1) == 1;
  ::close(gate[1]);
  if (!started) {
    if (child > 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, __WALL);
    }
    throw std::runtime_error(std::string("processes cannot be traced here: ") + std::strerror(why));
  }
  return traced.follow();
}

/// Memory that a traced process shares with its tracer: to tell things without a system call.
template <class Value>
class shared {
 public:
  shared() {
    void* const memory = ::mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    value_ = new (memory) Value();
  }
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() { ::munmap(value_, sizeof(Value)); }

  [[nodiscard]] Value& operator*() const noexcept { return *value_; }
  [[nodiscard]] Value* operator->() const noexcept { return value_; }

 private:
  Value* value_;
};

}  // namespace tracer
