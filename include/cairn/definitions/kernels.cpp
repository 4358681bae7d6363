// SPDX-License-Identifier: MIT
// The SIMD kernels of the lossless codec.
#include "cairn/encode/simd/lossless_kernels.ipp"
