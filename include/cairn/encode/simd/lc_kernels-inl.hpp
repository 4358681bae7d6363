// SPDX-License-Identifier: MIT
// The kernels of lc, for one target: included once per target by each_target.hpp.
#include "cairn/encode/simd/rows-inl.hpp"
#include "cairn/encode/simd/half_floats-inl.hpp"
#include "cairn/encode/simd/buckets-inl.hpp"
#include "cairn/encode/simd/ratios-inl.hpp"
#include "cairn/encode/simd/symbols-inl.hpp"
