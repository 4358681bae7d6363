// SPDX-License-Identifier: MIT
// The ways that are compared.
#include "stall/way.hpp"

namespace bench {

std::span<const known_way> known_ways() {
  static const known_way all[] = {
      {"cairn", "cairn, step", [](const auto& where) { return cairn_asynchronous(where, true); }},
      {"cairn_raw", "cairn, step, raw", [](const auto& where) { return cairn_asynchronous(where, false); }},
      {"cairn_blocking", "cairn, save", [](const auto& where) { return cairn_blocking(where, true); }},
      {"cairn_blocking_raw", "cairn, save, raw", [](const auto& where) { return cairn_blocking(where, false); }},
      {"fork", "fork, the child writes", fork_and_write, true},
#ifdef CAIRN_BENCH_LIBTORCH
      {"libtorch_blocking", "torch::save", libtorch_blocking},
      {"libtorch_joined", "torch::save in a thread, joined before the state is rewritten", libtorch_joined},
      {"libtorch_cloned", "clone, then torch::save in a thread", libtorch_cloned},
#endif
  };
  return all;
}

}  // namespace bench
