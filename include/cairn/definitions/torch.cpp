// SPDX-License-Identifier: MIT
// The adapters of libtorch. The target cairn::torch compiles it, in the project that uses it.
#include "cairn/adapters/torch.ipp"

namespace cairn::inline v0_1::detail {
CAIRN_TORCH_WALKS()
}  // namespace cairn::inline v0_1::detail
