// SPDX-License-Identifier: MIT
// A thread of execution that runs when another one switches to it: on a stack of its own, in the thread of the system
// that makes all of them.
#pragma once

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define INTERLEAVINGS_HAS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INTERLEAVINGS_HAS_ASAN
#endif
#endif
#if defined(INTERLEAVINGS_HAS_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

#include "standard.hpp"

namespace interleavings {

class fiber {
 public:
  /// The one that runs now.
  fiber() = default;
  /// `work` begins at the first switch to it. It ends by a switch to another one, and not by a return.
  explicit fiber(std::function<void()> work) : work_(std::move(work)) {
    void* const made =
        ::mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (made == MAP_FAILED || ::mprotect(made, guard, PROT_NONE) != 0) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(made);
    stack_ = {memory_ + guard, bytes};
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = memory_ + guard;
    context_.uc_stack.ss_size = bytes;
    ::makecontext(&context_, &fiber::begin, 0);
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
    if (memory_ != nullptr) ::munmap(memory_, guard + bytes);
  }

  /// Goes on in `next`, and returns when another one switches back to this one, which is the one that runs; never if it
  /// has ended.
  void switch_to(fiber& next, bool has_ended = false) {
    entered_ = &next;
    left_ = this;
    // The exceptions in flight are those of the thread of the system.
    std::memcpy(exceptions_, abi::__cxa_get_globals(), sizeof exceptions_);
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), next.exceptions_, sizeof exceptions_);
    leave(has_ended);
    ::swapcontext(&context_, &next.context_);
    arrive();
  }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 20U, guard = std::size_t{1} << 16U;

  struct stack {
    const void* bottom = nullptr;
    std::size_t size = 0;
  };

  static void begin() {
    entered_->arrive();
    entered_->work_();
    std::abort();
  }

#if defined(INTERLEAVINGS_HAS_ASAN)
  void leave(bool has_ended) {
    __sanitizer_start_switch_fiber(has_ended ? nullptr : &fake_stack_, entered_->stack_.bottom, entered_->stack_.size);
  }
  void arrive() {
    auto& from = left_->stack_;
    __sanitizer_finish_switch_fiber(fake_stack_, &from.bottom, &from.size);
  }
  void* fake_stack_ = nullptr;
#else
  void leave(bool /*has_ended*/) {}
  void arrive() {}
#endif

  static inline fiber *entered_ = nullptr, *left_ = nullptr;  // of the last switch

  std::function<void()> work_{};
  std::byte* memory_ = nullptr;
  stack stack_{};
  ucontext_t context_{};
  void* exceptions_[2] = {nullptr, nullptr};  // as the C++ ABI has them: the caught ones, and the number of the others
};

}  // namespace interleavings
