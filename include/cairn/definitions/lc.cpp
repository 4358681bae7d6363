// SPDX-License-Identifier: MIT
// The codec LC and its SIMD kernels.
#include "cairn/encode/lc/codec.ipp"
#include "cairn/encode/simd/lc_kernels.ipp"
