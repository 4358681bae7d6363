// SPDX-License-Identifier: MIT
// The definitions of encode/ but for LC and the kernels.
#include "cairn/encode/choice.ipp"
#include "cairn/encode/lossless.ipp"
