// SPDX-License-Identifier: MIT
// The adapters of libtorch. The target cairn::torch compiles it, in the project that uses it.
#include "cairn/adapters/torch.ipp"

namespace cairn::inline v0_1::detail {
template void walk<at::Tensor>(walker&, void*);
template void walk<at::Generator>(walker&, void*);
template void walk<std::map<std::string, at::Tensor>>(walker&, void*);
template void walk<torch::data::samplers::RandomSampler>(walker&, void*);
template void walk<torch::data::samplers::SequentialSampler>(walker&, void*);
template void walk<torch::data::samplers::DistributedRandomSampler>(walker&, void*);
template void walk<torch::data::samplers::DistributedSequentialSampler>(walker&, void*);
template void walk<torch::data::samplers::StreamSampler>(walker&, void*);
}  // namespace cairn::inline v0_1::detail
