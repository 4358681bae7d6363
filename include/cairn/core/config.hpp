// How the code behind the templates is compiled: in every unit that includes Cairn, or once per program.
#pragma once

/// Not defined: Cairn is header-only, with nothing to link or to add to a build. Defined for all units of a
/// program: headers `x.hpp` only declare what `x.ipp` defines, and one more unit, `cairn/definitions.cpp`,
/// compiles all of that once. The CMake target cairn::compiled does both. Units then compile several times
/// faster.
#if defined(CAIRN_SEPARATE_COMPILATION)
#define CAIRN_INLINE
#else
#define CAIRN_INLINE inline
#endif
