// SPDX-License-Identifier: MIT
// The comparison of all methods on one model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/report.hpp"
#include "rework/experiment.hpp"
#include "rework/methods.hpp"

namespace bench::rework {

/// Results of the seeds so far. "lc2" is without a limit, "lc2.5" with 5 %, and "topn.as_lc2" with the bytes of lc2.
using measurements = std::map<std::string, result>;

/// Settings of Cairn's codecs, SCAR, TOPN and full checkpoints, at 5 % and 10 % of fp32, and the peers and `lossless`
/// with the bytes that lc2 and lc3 use. One run is measured after another, so that the checkpoints of only one are in
/// memory.
class comparison {
 public:
  /// `settings` has "lc2" and "lc3". Results are added to `found`, which must outlive the comparison.
  comparison(models::setting model, models::part what, std::vector<codec_setting> settings, measurements& found);

  /// The seeds that `found` has of all methods.
  [[nodiscard]] std::uint64_t seeds() const;
  /// Measures the methods that `found` does not have yet of this seed. Call it with 1, 2, ..., in this order.
  void add(std::uint64_t seed, const undisturbed_run& run);
  /// Prints a table, and adds the figures of the model. Returns the fp32 bytes over the mean stored bytes of a
  /// checkpoint, of the best setting.
  double finish(report& numbers) const;

 private:
  struct planned {
    std::string key;
    method with;
    bool has_share_of_base = false;
    /// has_share_of_base: the setting whose used share is the limit. Otherwise: the same setting without a limit; its
    /// results are copied if they keep to the share of `with`.
    std::string base;
  };

  void plan();
  void add_to(report& numbers) const;
  void add_ratios(report& numbers, const std::string& prefix) const;

  experiment how_;
  std::vector<codec_setting> settings_;
  std::vector<planned> planned_;
  measurements& found_;
};

/// Settings of LC against TOPN with the same bytes, over the seeds 1 to `seeds`. Prints a table, and returns whether
/// all reach their targets, and none costs more rework.
[[nodiscard]] bool compare_shortly(const models::setting& model, std::span<const codec_setting> settings,
                                   std::size_t seeds, report& numbers);

}  // namespace bench::rework
