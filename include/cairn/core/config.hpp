// SPDX-License-Identifier: MIT
// What Cairn needs of the compiler.
#pragma once

#if __cplusplus < 202002L
#define CAIRN_REFUSED "Cairn needs C++20: compile with -std=c++20 or newer"
#elif !defined(__cpp_exceptions)
#define CAIRN_REFUSED "Cairn needs exceptions: compile without -fno-exceptions"
#endif
#if defined(CAIRN_REFUSED)
#include CAIRN_REFUSED  // There is no such file, which stops the compiler; it goes on after an #error.
#endif

/// What is one per process stays one where several shared libraries of a program contain Cairn and are compiled with
/// -fvisibility=hidden: handlers of signals, what is known of forks, the codecs and functions that opt-in headers add,
/// and types of exceptions.
#define CAIRN_ONE_PER_PROCESS [[gnu::visibility("default")]]
