// SPDX-License-Identifier: MIT
#include "cairn/system/parallel.hpp"

#include <csignal>
#include <cstddef>
#include <string>
#include <system_error>

#include <pthread.h>

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

TEST_CASE("a thread that cannot be started is an error that says so, and the mask is as before") {
  sigset_t before{}, after{};
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  pthread_attr_t usual{}, huge{};
  REQUIRE(::pthread_getattr_default_np(&usual) == 0);
  REQUIRE(::pthread_getattr_default_np(&huge) == 0);
  REQUIRE(::pthread_attr_setstacksize(&huge, std::size_t{1} << 60) == 0);
  REQUIRE(::pthread_setattr_default_np(&huge) == 0);
  std::string message;
  try {
    cairn::detail::start_thread([] {}).join();
  } catch (const std::system_error& failure) {
    message = failure.what();
  }
  REQUIRE(::pthread_setattr_default_np(&usual) == 0);
  CHECK(message.starts_with("cannot start a thread: "));
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  CHECK(::sigismember(&after, SIGTERM) == ::sigismember(&before, SIGTERM));
}
