// Where the code behind the templates is compiled: in every unit that includes Cairn, or once per program.
#pragma once

/// Headers `x.hpp` declare what `x.ipp` defines. By default `x.hpp` includes `x.ipp`, and all functions are inline: there is nothing
/// to link. If all units of a program define CAIRN_SEPARATE_COMPILATION, they see declarations only and compile several times
/// faster. The definitions are then compiled once: in the library cairn::compiled, or in the unit `cairn/definitions.cpp`.
#if defined(CAIRN_SEPARATE_COMPILATION)
#define CAIRN_INLINE
#else
#define CAIRN_INLINE inline
#endif
