// SPDX-License-Identifier: MIT
// What Cairn needs of the compiler, and where the code behind the templates is compiled: in every unit that includes Cairn, or once per
// program.
#pragma once

#if __cplusplus < 202002L
#error "Cairn needs C++20: compile with -std=c++20 or newer"
#elif !defined(__cpp_exceptions)
#error "Cairn needs exceptions: compile without -fno-exceptions"
#elif !defined(__cpp_rtti)
#error "Cairn needs RTTI, for pointers to base classes: compile without -fno-rtti"
#endif

/// Headers `x.hpp` declare what `x.ipp` defines. By default `x.hpp` includes `x.ipp`, and all functions are inline: there is nothing
/// to link. If all units of a program define CAIRN_SEPARATE_COMPILATION, they see declarations only and compile several times
/// faster. The definitions are then compiled once: in the library cairn::compiled, or in the unit `cairn/definitions.cpp`.
#if defined(CAIRN_SEPARATE_COMPILATION)
#define CAIRN_INLINE
#else
#define CAIRN_INLINE inline
#endif
