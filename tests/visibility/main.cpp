// SPDX-License-Identifier: MIT
// Two shared libraries in one program, each with its own copy of Cairn and compiled with -fvisibility=hidden: what is
// one per process stays one, and what one library throws or makes is known to the other. With two arguments, the paths
// of the libraries, it opens them by dlopen with RTLD_GLOBAL; with a third one with RTLD_LOCAL.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "plain_check.hpp"
#include "visibility/library.hpp"

namespace {

using tests::check;

#if defined(CAIRN_OPENED)
const functions& opened(const char* path, const char* name, bool is_local) {
  void* const library = ::dlopen(path, RTLD_NOW | (is_local ? RTLD_LOCAL : RTLD_GLOBAL));
  if (library == nullptr) {
    std::cerr << ::dlerror() << '\n';
    std::exit(1);
  }
  return *reinterpret_cast<const functions* (*)()>(::dlsym(library, name))();
}
#endif

/// `shares`: both libraries have the same variables. These are unique symbols with g++. Clang has none, so libraries
/// that are opened with RTLD_LOCAL have their own.
void test(const functions& first, const functions& second, bool shares) {
  check(second.catches(first.fail), "a library catches the error of the other");
  try {
    first.fail();
  } catch (const cairn::error& failure) {
    check(failure.code() == cairn::errc::not_found, "the program catches the error of a library");
  } catch (...) {
    check(false, "the program catches the error of a library");
  }

  const auto watch = first.watch(SIGUSR1);
  check(second.catches([] { throw cairn::error(cairn::errc::not_found, "x"); }),
        "a library catches the program's error");
  bool is_refused = false;
  try {
    second.watch(SIGUSR1);
  } catch (const cairn::error& failure) {
    is_refused = failure.code() == cairn::errc::invalid;
  }
  check(is_refused == shares, "a signal that the other library watches is refused");
  ::raise(SIGUSR1);
  check(watch->received() == SIGUSR1, "the first library sees its signal");
  const auto next = second.watch(SIGUSR1);
  ::raise(SIGUSR1);
  check(next->received() == SIGUSR1, "then the second library watches it");

  model state{first.make_layer()};
  check(second.paths(state) == "first.weight ", "a library knows the class of an object that the other has made");

  const auto owner = first.owner();
  check(second.is_here(owner), "an object is used in its process");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(second.is_here(owner) ? 1 : 0);
  int status = 1;
  ::waitpid(child, &status, 0);
  check(status == 0, "a forked child is noticed by the library that did not make the object");

  first.add_codec();
  check(second.has_codec() == shares, "a codec that a library adds is known to the other");
}

}  // namespace

int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#if defined(CAIRN_OPENED)
  const bool is_local = argc > 3;
#if defined(__clang__)
  const bool shares = !is_local;
#else
  const bool shares = true;
#endif
  test(opened(argv[1], "one", is_local), opened(argv[2], "two", is_local), shares);
#else
  test(*one(), *two(), true);
#endif
  return tests::failures;
}
