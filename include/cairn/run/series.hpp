// What a checkpointer does at its store: saves, merges, removes. One thread at a time calls it, the trainer's or the one behind.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/options.hpp"
#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/event.hpp"
#include "cairn/load.hpp"
#include "cairn/merge.hpp"
#include "cairn/report.hpp"
#include "cairn/save.hpp"
#include "cairn/chain/delta_base.hpp"
#include "cairn/schedule/base.hpp"
#include "cairn/state/any_state.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/retention.hpp"

namespace cairn::detail {

/// A state to be saved.
struct save_request {
  description what;
  std::uint64_t step = 0;
  std::map<std::string, double> metrics{};
  unsigned threads = 0;
  codec_rules codecs{};
  std::optional<save_kind> kind{};  // none: as the codecs and the chain options say
  save_steps steps{};

  [[nodiscard]] std::uint64_t state_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& each : what.leaves) bytes += each.bytes();
    return bytes;
  }
};

/// The save of a described state, as the options want it.
[[nodiscard]] inline save_request request_of(description what, const observation& now,
                                             const checkpointer_options& options,
                                             std::optional<save_kind> kind = std::nullopt) {
  save_request request{std::move(what), now.step, now.metrics, options.threads, options.codecs, kind};
  if (kind == save_kind::raw) request.codecs = {{"*", codecs::raw{}}};
  if (now.loss) request.metrics.emplace("loss", *now.loss);
  return request;
}

/// What became of a request.
[[nodiscard]] inline save_kind kind_of(const save_request& request, const save_report& report) noexcept {
  if (report.is_delta) return save_kind::delta;
  return request.kind == save_kind::raw ? save_kind::raw : save_kind::whole;
}

/// What the standard library or a user's codec threw, as the one error that Cairn throws; `what` failed.
[[nodiscard]] CAIRN_INLINE error as_error(const std::exception& cause, const std::string& what);

/// Knows the published checkpoints and the chain. Tells `tell` of what it does.
class checkpoint_series {
 public:
  checkpoint_series(any_store store, const checkpointer_options& options, observer tell)
      : store_(std::move(store)), options_(options), tell_(std::move(tell)) {}

  /// See checkpointer::restore.
  std::optional<load_report> restore(any_mutable_state state, const load_options& options);

  /// Saves and publishes. What is thrown has been told of, but for `save_abandoned`.
  save_report save(save_request& request);

  /// Is it time to merge deltas?
  [[nodiscard]] bool is_merge_due() const {
    return options_.chain.merge_every >= 2 && chain_.deltas_to_merge() >= options_.chain.merge_every;
  }

  /// Merges the newest deltas. When that fails they are all still there, and it is tried again after the next one. `check` may
  /// throw to end it.
  merge_report merge(const std::function<void()>& check);

  [[nodiscard]] std::vector<removal> retention_plan();

  /// Removes what no rule keeps and returns how many that were; what cannot be removed is told of.
  std::uint64_t prune();

  /// "run/step-000000120", for messages.
  [[nodiscard]] std::string path_of(std::uint64_t step) const;

  [[nodiscard]] const any_store& store() const noexcept { return store_; }

 private:
  struct known_checkpoint {
    retained_entry entry;
    std::uint64_t bytes = 0;
  };

  void tell(const event& what) const { detail::tell(tell_, what); }
  [[nodiscard]] std::vector<retained_entry> entries();
  [[nodiscard]] const known_checkpoint& known(const std::string& name, std::uint64_t step);

  any_store store_;
  const checkpointer_options& options_;
  observer tell_;
  stores::ownership ownership_;
  std::uint64_t newest_step_ = 0;                  // of this process
  std::map<std::string, known_checkpoint> known_;  // published, by name
  std::set<std::string> unusable_;                 // those that a restore passed over
  delta_base chain_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/run/series.ipp"  // IWYU pragma: keep
#endif
