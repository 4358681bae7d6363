// SPDX-License-Identifier: MIT
// The kernels of lossless, for one target: included once per target by each_target.hpp.
#include "cairn/encode/simd/planes-inl.hpp"
#include "cairn/encode/simd/zeros-inl.hpp"
