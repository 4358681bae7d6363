// How checkpointers call merge_checkpoints, which only programs that include cairn/merge.hpp contain.
#pragma once

#include <atomic>
#include <string>

#include "cairn/chain/options.hpp"
#include "cairn/report.hpp"
#include "cairn/store/base.hpp"

namespace cairn::detail {

using merge_function = merge_report (*)(any_store&, const std::string& name, const merge_options&);

/// merge_checkpoints; null when no unit of the program includes cairn/merge.hpp. Set before main.
inline constinit std::atomic<merge_function> known_merge{nullptr};

}  // namespace cairn::detail
