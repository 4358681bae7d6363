// SPDX-License-Identifier: MIT
// expect: a tensor that may be on a device: specialise cairn::adapter<T> with a view that has copy functions
// expect: "weight: gpu_tensor"
#include <cstddef>
#include <vector>

#include "cairn/state/describe.hpp"

class gpu_tensor {
 public:
  float* data();
  std::vector<std::size_t> shape() const;
  bool is_cuda() const;

 private:
  float* memory_ = nullptr;
};

struct state {
  gpu_tensor weight;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
