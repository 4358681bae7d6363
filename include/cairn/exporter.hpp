// SPDX-License-Identifier: MIT
// An observer that exports checkpoints for other programs while the training goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cairn/core/config.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/event.hpp"
#include "cairn/export.hpp"

namespace cairn::inline v0_1 {

namespace observers {

/// What an exporter exports, where and how often.
struct exporter_options {
  std::string directory;  ///< which the exports go to; created if it is not there
  /// Not set: `directory` has the newest checkpoint. Else the checkpoints at multiples of n steps, n at least 1, are in
  /// it, each in a directory of the name of its checkpoint, such as step-000000120.
  std::optional<std::uint64_t> every_steps{};
  export_options how{};  ///< of each export
  codec_rules codecs{};  ///< a user's own codecs; Cairn's need no rule
};

/// Exports checkpoints after they are published, in a thread of its own, for which neither the trainer nor a save
/// waits. Without `every_steps`, skips a checkpoint if a newer one is published before its export begins. Passes all
/// events on to `next`, and reports `exported` or `failed` to it, as when retention has removed the checkpoint
/// meanwhile. Copies share the thread; the last one waits for the pending exports when it is destroyed. For places on a
/// file system; with a group, at one of the ranks.
class exporter {
 public:
  /// errc::invalid for an empty directory and for 0 steps.
  explicit exporter(exporter_options options, observer next = {});

  void operator()(const event& what) const;

 private:
  class worker;
  std::shared_ptr<worker> worker_;
};

}  // namespace observers

}  // namespace cairn::inline v0_1
