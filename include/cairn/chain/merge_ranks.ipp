// SPDX-License-Identifier: MIT
// Definitions of merge.hpp: the merge by a group of ranks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cairn/chain/merge.ipp"
#include "cairn/chain/merge_hook.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/shard_record.hpp"
#include "cairn/store/writer.hpp"

namespace cairn::inline v0_1::detail {

/// All ranks open the same checkpoint, and so list the same pieces for each of them.
class rank_merge final : public joint_merge {
 public:
  rank_merge(any_store& store, const joint_merge_job& job)
      : rank_(job.rank),
        open_(store, job.newest.name, job.how, job.ranks),
        writer_(store, job.newest.name, merged().spec(), job.ranks, job.rank) {
    if (open_.chain->newest().id() != job.newest.id)
      fail(errc::corrupt, {open_.report.checkpoint, ": another checkpoint has replaced it"});
  }

  [[nodiscard]] std::string begin() override { return links() + writer_.begin(); }
  void join(std::string_view begun) override {
    const auto own = links();
    if (!begun.starts_with(own))
      fail(errc::mismatch,
           {open_.report.checkpoint, ": this rank sees other checkpoints that it is built on than rank 0"});
    writer_.join(begun.substr(own.size()));
  }

  void write_share() override {
    merged().write(writer_, rank_, rank_ + 1);
    open_.chain.reset();  // before its files are replaced: NFS keeps the names of open files that are deleted
  }

  [[nodiscard]] std::string record() const override {
    return write_shard_record(writer_.record(open_.merged->leaves(), {}));
  }

  [[nodiscard]] merge_report publish(std::span<const std::string> records) override {
    for (std::size_t rank = 1; rank < records.size(); ++rank) {
      const auto written = read_shard_record(records[rank], open_.report.checkpoint + ": the record of a rank");
      for (const auto& [number, how] : written.encoded)
        if (how.relative) merged().note_delta();
      writer_.add_written(written, merged().leaves(), merged().pieces_of(rank));
    }
    const auto parent = merged().parent();
    return published(writer_.commit(parent).bytes, !parent);
  }

  [[nodiscard]] merge_report published(std::uint64_t bytes, bool is_whole) const override {
    auto report = open_.report;
    const auto& base = open_.merged->base();
    report.parent = is_whole || !base ? std::string() : base->name;
    report.bytes = bytes;
    report.seconds = open_.watch.seconds();
    return report;
  }

 private:
  /// The links of the chain: a file system may still show a rank one that another has been merged into, which keeps its name and id.
  [[nodiscard]] std::string links() const {
    std::string text;
    for (const auto& link : open_.chain->links()) text += to_hex(link->id()) + '/';
    return text;
  }
  [[nodiscard]] merger& merged() noexcept { return *open_.merged; }

  std::size_t rank_;
  opened_merge open_;
  checkpoint_writer writer_;
};

std::unique_ptr<joint_merge> open_joint_merge(any_store& store, const joint_merge_job& job) {
  return std::make_unique<rank_merge>(store, job);
}

}  // namespace cairn::inline v0_1::detail
