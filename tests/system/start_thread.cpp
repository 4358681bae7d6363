// SPDX-License-Identifier: MIT
#include "cairn/system/start_thread.hpp"

#include "catch.hpp"

TEST_CASE("a thread leaves signals to others, and the caller's mask is as before") {
  sigset_t before{}, inside{}, after{};
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  cairn::detail::start_thread([&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &inside); }).join();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGALRM}) {
    CHECK(::sigismember(&inside, number) == 1);
    CHECK(::sigismember(&after, number) == ::sigismember(&before, number));
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGPROF}) CHECK(::sigismember(&inside, number) == 0);
}
