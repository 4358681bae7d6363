// SPDX-License-Identifier: MIT
// Including Cairn adds no overloads to the global mathematical functions of the C library: they would change a program's results.
#include <cairn/cairn.hpp>

#include <concepts>

static_assert(std::same_as<decltype(::exp(1.0F)), double>);

#include <math.h>  // NOLINT(modernize-deprecated-headers): afterwards, a program still gets them

static_assert(std::same_as<decltype(::exp(1.0F)), float>);
