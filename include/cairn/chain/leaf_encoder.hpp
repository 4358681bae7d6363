// SPDX-License-Identifier: MIT
// Encodes the pieces of a save with the codec of each leaf, and computes the memory that this takes. Passes codecs that
// use the parent its values, and keeps those that a reader of this save restores, on which the next delta is built.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/options.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/report.hpp"
#include "cairn/store/shard.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

/// The newest checkpoint of a chain, which is the parent of the next delta, and its references: the values that a
/// reader restores from it, bit for bit. After a failure they are not certain, and are dropped.
class delta_base {
 public:
  /// The elements of a leaf that a reader restores, from `first` to `end`. A rank of a group has those of its share.
  struct reference {
    dtype type{};
    extents shape;
    page_buffer values;
    std::uint64_t first = 0, end = 0;
    std::shared_ptr<const box_place> place{};  ///< of a box of a larger array

    [[nodiscard]] bool is_at(const std::shared_ptr<const box_place>& other) const {
      return place == other || (place && other && *place == *other);
    }
    [[nodiscard]] bool has(std::uint64_t from, std::uint64_t count) const noexcept {
      return first <= from && from + count <= end;
    }
  };

  /// Whether the next checkpoint, of `step`, can be a delta: there is an older parent, and no anchor is due. The same
  /// at all ranks of a group.
  [[nodiscard]] bool can_extend(std::uint64_t step, const chain_options& options) const noexcept {
    return parent_ && step > step_ && (!options.anchor_every || length_ < *options.anchor_every);
  }

  /// The reference of a leaf; null if there is none of this type and shape.
  [[nodiscard]] reference* find(const std::string& path, dtype type, const extents& shape) {
    const auto at = references_.find(path);
    return at != references_.end() && at->second.type == type && at->second.shape == shape ? &at->second : nullptr;
  }

  /// Makes an uninitialised reference, in place of an older one of the leaf.
  reference& make(const std::string& path, dtype type, const extents& shape) {
    return references_.insert_or_assign(path, reference{type, shape, page_buffer(element_count(shape) * size_of(type))})
        .first->second;
  }

  /// Removes the references of all other leaves, which the parent of the next checkpoint does not have.
  void keep_only(const std::set<std::string_view>& paths) {
    std::erase_if(references_, [&](const auto& each) { return !paths.contains(each.first); });
  }

  /// Call this when a checkpoint has been published: it becomes the parent. `has_all_references`: there is one for each
  /// of its leaves that needs one.
  void published(const checkpoint_ref& checkpoint, std::uint64_t step, bool is_delta, bool has_all_references) {
    has_all_references_ = has_all_references;
    length_ = is_delta ? length_ + 1 : 1;
    since_merge_ = is_delta ? since_merge_ + 1 : 0;
    parent_ = checkpoint;
    step_ = step;
  }

  /// Call this when a checkpoint has been restored: it becomes the parent, without references. `length` is
  /// the number of checkpoints from its anchor on.
  void restored(const checkpoint_ref& checkpoint, std::uint64_t step, std::size_t length) {
    forget();
    parent_ = checkpoint;
    step_ = step;
    length_ = length;
    since_merge_ = length - 1;
  }

  /// Drops the references and code tables, as after a failed save. The next delta reads them from the parent.
  void forget() noexcept {
    has_all_references_ = false;
    references_.clear();
    tables_.clear();
  }

  /// Removes the parent too: the next checkpoint is whole.
  void clear() noexcept {
    forget();
    parent_.reset();
    length_ = since_merge_ = 0;
  }

  /// Call this when the deltas have been merged into the newest checkpoint.
  void merged(bool to_whole) noexcept {
    since_merge_ = 0;
    if (to_whole) length_ = 1;
  }

  [[nodiscard]] const std::optional<checkpoint_ref>& parent() const noexcept { return parent_; }
  /// Whether the references are those of the parent. There may be none, as at a rank whose share has no leaf with one.
  [[nodiscard]] bool has_references() const noexcept { return has_all_references_ || !references_.empty(); }
  /// They have been read from the parent.
  void references_read() noexcept { has_all_references_ = true; }
  [[nodiscard]] std::size_t deltas_to_merge() const noexcept { return since_merge_; }
  [[nodiscard]] code_tables& tables() noexcept { return tables_; }

 private:
  std::optional<checkpoint_ref> parent_;
  std::uint64_t step_ = 0;
  std::size_t length_ = 0;       // checkpoints from the anchor on
  std::size_t since_merge_ = 0;  // deltas
  bool has_all_references_ = false;
  std::map<std::string, reference, std::less<>> references_;
  code_tables tables_;
};

/// Smaller leaves are not encoded: the description of the encoding in the file's header takes about as many bytes.
inline constexpr std::uint64_t least_encoded_bytes = 256;

/// The codecs of the leaves of a save. Matches every path against the rules once. `leaves` and `rules` must outlive it.
class leaf_codecs {
 public:
  leaf_codecs(std::span<const leaf> leaves, std::span<const codec_rule> rules) : leaves_(leaves), rules_(rules) {
    rule_of_.reserve(leaves.size());
    for (const auto& each : leaves) rule_of_.push_back(rule_for(each.path, rules));
    for (std::size_t rule = 0; rule <= rules.size(); ++rule)
      is_raw_.push_back(codec_of_rule(rule, rules).name() == raw_codec().name());
  }

  [[nodiscard]] const any_codec& operator[](std::size_t leaf) const { return codec_of_rule(rule_of_[leaf], rules_); }

  /// False for a leaf that is stored as it is.
  [[nodiscard]] bool is_encoded(std::size_t leaf) const {
    return leaves_[leaf].bytes() >= least_encoded_bytes && !is_raw_[rule_of_[leaf]];
  }

  /// Whether the codec of any leaf uses the parent checkpoint.
  [[nodiscard]] bool use_parent() const {
    return std::ranges::any_of(rule_of_, [&](std::size_t rule) { return codec_of_rule(rule, rules_).uses_parent(); });
  }

  /// The patterns of the rules that no leaf has: they match no path, or earlier rules match all that they do.
  [[nodiscard]] std::vector<std::string> unmatched_rules() const {
    std::vector<bool> is_used(is_raw_.size());
    for (const auto rule : rule_of_) is_used[rule] = true;
    std::vector<std::string> unmatched;
    for (std::size_t rule = 0; rule < rules_.size(); ++rule)
      if (!is_used[rule]) unmatched.push_back(rules_[rule].pattern);
    return unmatched;
  }

 private:
  std::span<const leaf> leaves_;
  std::span<const codec_rule> rules_;
  std::vector<std::size_t> rule_of_;  // by leaf; the number after the last rule stands for none
  std::vector<bool> is_raw_;          // by rule
};

/// A piece that is stored as a payload, or as it is.
struct encoded_piece : piece {
  std::optional<encoding_info> how{};  ///< of the payload; nullopt: the elements are stored as they are
  std::span<const std::byte> bytes{};  ///< the payload, or the elements packed; empty: they are in the leaf's memory
  page_buffer memory{};                ///< holds the payload, unless that lies in staged memory
  stored_tables tables{};              ///< that the payload names

  /// Stores the first `size` bytes of `payload`, which the piece then owns.
  void own(encoding_info encoding, page_buffer payload, std::size_t size) {
    how = std::move(encoding);
    memory = std::move(payload);
    bytes = memory.bytes().first(size);
  }
};

/// The pieces for the writer. They refer to `shards`.
[[nodiscard]] inline shards_of<write_piece> for_writer(std::span<const std::vector<encoded_piece>> shards) {
  return transformed<write_piece>(shards, [](const encoded_piece& each) -> write_piece {
    return {each, each.bytes, each.how ? &*each.how : nullptr, &each.tables};
  });
}

/// The bytes before the copy of a piece that its codec needs to encode it in place; 0 where it cannot.
[[nodiscard]] inline std::size_t room_to_encode(const leaf& whole, std::size_t bytes,
                                                std::span<const codec_rule> rules) {
  if (whole.bytes() < least_encoded_bytes) return 0;
  const auto& codec = codec_for(whole.path, rules);
  if (codec.uses_parent() || !codec.encodes_in_place()) return 0;
  return codec.bound(whole.type, bytes) - bytes;
}

/// Memory that a save takes beside its copy.
struct encode_memory {
  std::uint64_t encoded = 0;     ///< for encoded pieces, at most
  std::uint64_t references = 0;  ///< for the values that the next delta refers to
};

/// `is_copied`: the pieces are copied, so that a codec may encode them in place.
[[nodiscard]] inline encode_memory memory_to_encode(std::span<const leaf> leaves, std::span<const piece> pieces,
                                                    std::span<const codec_rule> rules, bool is_copied) {
  const leaf_codecs codecs(leaves, rules);
  encode_memory all;
  for (const auto& [i, first, count] : pieces) {
    if (!codecs.is_encoded(i)) continue;
    const auto bytes = count * size_of(leaves[i].type);
    if (codecs[i].uses_parent()) all.references += bytes;
    if (!is_copied || codecs[i].uses_parent() || !codecs[i].encodes_in_place())
      all.encoded += codecs[i].bound(leaves[i].type, bytes);
  }
  return all;
}

/// The elements of a piece, packed: where they lie or, if they have gaps, gathered into `memory`.
[[nodiscard]] inline std::span<const std::byte> packed_elements(const leaf& whole, const piece& which,
                                                                page_buffer& memory) {
  const auto width = size_of(whole.type), bytes = which.count * width;
  if (whole.contiguous()) return {whole.memory + which.first * width, bytes};
  const auto packed = memory.first(bytes);
  gather(whole, which.first, packed);
  return packed;
}

/// Encodes the pieces of one checkpoint, a few shards at a time. With a `base`, the references of the leaves whose
/// codecs use the parent become what a reader restores; if it is not published, call delta_base::forget.
class leaf_encoder {
 public:
  /// The arguments must outlive it. Sets `is_delta` and `lost` of the report. `check` is called before each piece, by
  /// any thread; what it throws ends encoding.
  leaf_encoder(std::span<const leaf> leaves, const leaf_codecs& codecs, delta_base* base, bool as_delta,
               unsigned threads, save_report& report, std::function<void()> check = {})
      : leaves_(leaves),
        codecs_(codecs),
        base_(base),
        as_delta_(as_delta),
        threads_(threads_of(threads)),
        report_(report),
        check_(std::move(check)) {}

  /// Encodes the pieces of the next shards. A payload overwrites the copy of a staged piece where the codec can encode
  /// in place, and is then valid as long as that memory; else the result owns it. Throws what the codecs throw.
  [[nodiscard]] shards_of<encoded_piece> encode(std::span<const std::vector<staged_piece>> shards) {
    shards_of<encoded_piece> encoded(shards.size());
    std::vector<task> tasks;  // which refer to `encoded`
    for (std::size_t i = 0; i < shards.size(); ++i) {
      encoded[i].reserve(shards[i].size());
      for (const auto& each : shards[i]) {
        encoded[i].push_back({each, {}, unchanging(each), {}, {}});
        if (each.count != 0 && codecs_.is_encoded(each.leaf)) tasks.push_back(task_of(each, encoded[i].back()));
      }
    }
    // A round has all tasks or, of a delta, after the first one as many as are done: the code tables of a round are
    // known to the next one. So the pieces of a delta share their tables at any thread count.
    const bool is_delta = std::ranges::any_of(tasks, [](const task& each) { return !each.parent.empty(); });
    for (std::size_t first = 0, next = 0; first < tasks.size(); first = next) {
      next = is_delta ? std::min(tasks.size(), 2 * first + 1) : tasks.size();
      encode(std::span(tasks).subspan(first, next - first));
    }
    return encoded;
  }

  /// The references are those of the encoded pieces, and of no other leaves. Call it once, at the end.
  void finish() {
    if (base_ == nullptr) return;
    std::set<std::string_view> kept;
    for (const auto& [index, made] : references_) {
      kept.insert(leaves_[index].path);
      made.reference->place = leaves_[index].place;
      made.reference->first = made.first;
      made.reference->end = made.end;
    }
    base_->keep_only(kept);
  }

 private:
  /// A piece that its codec encodes.
  struct task {
    const staged_piece* from = nullptr;
    encoded_piece* to = nullptr;
    page_buffer packed{};                 // the elements of a strided leaf
    std::span<const std::byte> values{};  // row-major
    std::span<std::byte> parent{};        // what a reader restores from the parent; empty: none
    std::span<std::byte> kept{};  // what a reader restores from this save, kept for the next delta; empty: not kept
    encode_result result{};
  };

  /// The elements of a piece where nobody changes them: its copy, or that of its leaf; else nothing.
  [[nodiscard]] std::span<const std::byte> unchanging(const staged_piece& each) const {
    const auto& whole = leaves_[each.leaf];
    const bool has_copy = whole.owner != nullptr && whole.contiguous();
    const auto* const first = each.copy != nullptr ? each.copy
                              : has_copy           ? whole.memory + each.first * size_of(whole.type)
                                                   : nullptr;
    return {first, first != nullptr ? bytes_of(leaves_, each) : 0};
  }

  /// Encodes the pieces of a round.
  void encode(std::span<task> tasks) {
    constexpr std::size_t most_tables = 64;  // a codec compares all with a leaf that needs one
    if (base_ != nullptr) base_->tables().keep_newest(most_tables);
    page_buffer of_large;  // whose tasks run one at a time
    const auto bytes_of = [&](std::size_t i) { return tasks[i].values.size(); };
    parallel_by_size(tasks.size(), threads_, bytes_of, [&](std::size_t i, unsigned threads) {
      page_buffer of_small;
      run(tasks[i], codecs_[tasks[i].from->leaf], threads, bytes_of(i) < large_item_bytes ? of_small : of_large);
    });
    for (const auto& each : tasks) note(each);
  }

  /// The reference of a leaf, which may be cut into several pieces.
  struct leaf_reference {
    delta_base::reference* reference = nullptr;
    bool is_of_parent = false;  // false: made for this save
    // The elements of this save, which are consecutive: those of the whole leaf, or of the share of a rank.
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), end = 0;
  };

  /// That of a piece, whose elements this save keeps from now on.
  leaf_reference reference_of(const piece& each) {
    const auto& whole = leaves_[each.leaf];
    const auto [at, is_first] = references_.try_emplace(each.leaf);
    auto& made = at->second;
    if (is_first) {
      made.reference = base_->find(whole.path, whole.type, whole.shape);
      made.is_of_parent = made.reference != nullptr && as_delta_ && made.reference->is_at(whole.place);
      if (made.reference == nullptr) made.reference = &base_->make(whole.path, whole.type, whole.shape);
    }
    made.first = std::min(made.first, each.first);
    made.end = std::max(made.end, each.first + each.count);
    return made;
  }

  /// The task to encode a piece, with its values and reference.
  [[nodiscard]] task task_of(const staged_piece& from, encoded_piece& to) {
    const auto& whole = leaves_[from.leaf];
    task made{.from = &from, .to = &to};
    if (base_ != nullptr && codecs_[from.leaf].uses_parent()) {
      const auto known = reference_of(from);
      made.kept = known.reference->values.bytes().subspan(from.first * size_of(whole.type), bytes_of(leaves_, from));
      if (known.is_of_parent && known.reference->has(from.first, from.count)) made.parent = made.kept;
    }
    made.values = from.copy != nullptr ? to.bytes : packed_elements(whole, from, made.packed);
    return made;
  }

  /// Copies the elements of a piece that lie in the memory of the state: other threads may write them while the codec
  /// reads them more than once.
  void copy_live(task& each, const any_codec& codec, unsigned threads, page_buffer& memory) const {
    const auto& whole = leaves_[each.from->leaf];
    if (each.from->copy != nullptr || whole.owner != nullptr || !each.packed.bytes().empty()) return;
    if (codec.encodes_live() && each.kept.empty()) return;
    constexpr std::size_t run_bytes = std::size_t{1} << 20U;
    const auto copy = memory.first(each.values.size());
    parallel_for(copy.size() / run_bytes + 1, threads, [&](std::size_t i, unsigned) {
      const auto at = i * run_bytes, bytes = std::min(run_bytes, copy.size() - at);
      if (bytes != 0) std::memcpy(copy.data() + at, each.values.data() + at, bytes);
    });
    each.values = copy;
  }

  /// Encodes one piece, and updates its reference if it has one.
  void run(task& each, const any_codec& codec, unsigned threads, page_buffer& copy) const {
    if (check_) check_();
    copy_live(each, codec, threads, copy);
    const auto* const from = each.from;
    const auto room = from->room;
    const auto& whole = leaves_[from->leaf];
    const auto bound = codec.bound(whole.type, each.values.size());
    if (bound > std::numeric_limits<std::ptrdiff_t>::max())
      fail(errc::invalid, {whole.path, ": the bound of its codec is ", bound, " bytes"});
    const bool is_in_place =
        from->copy != nullptr && each.kept.empty() && codec.encodes_in_place() && bound <= room + each.values.size();
    page_buffer memory(is_in_place ? 0 : bound);
    const auto out = is_in_place ? std::span(from->copy - room, room + each.values.size()) : memory.bytes();
    const auto* const tables = base_ != nullptr ? &base_->tables() : nullptr;
    each.result = codec.encode({whole.path, whole.type, each.values, each.parent, threads, tables}, out);
    const auto& result = each.result;
    if (!result.lost && !each.kept.empty()) std::memcpy(each.kept.data(), each.values.data(), each.values.size());
    if (result.codec.empty()) {  // the next delta is built on what is stored: not on what the state has by then
      if (!each.kept.empty()) each.to->bytes = each.kept;
      return;
    }
    if (result.bytes > bound)
      fail(errc::invalid,
           {whole.path, ": codec ", result.codec, " gives ", result.bytes, " bytes, more than its bound of ", bound});
    if (!is_in_place && result.bytes < large_item_bytes) {  // a small payload does not keep the memory of its bound
      page_buffer exact(result.bytes);
      std::memcpy(exact.bytes().data(), memory.bytes().data(), result.bytes);
      memory = std::move(exact);
    }
    const auto shape = from->count == whole.count() ? whole.shape : extents{from->count};
    encoding_info how{result.codec, whole.type, shape, result.relative, result.lost};
    if (!is_in_place) return each.to->own(std::move(how), std::move(memory), result.bytes);
    each.to->how = std::move(how);
    each.to->bytes = out.first(result.bytes);
  }

  /// Adds the result to the report.
  void note(const task& each) {
    const auto& result = each.result;
    report_.is_delta = report_.is_delta || result.relative;
    if (result.lost) {
      auto& worst = report_.lost[leaves_[each.from->leaf].path];
      worst = worse(worst, *result.lost);
    }
    for (const auto& table : result.tables) {
      each.to->tables.insert(write_code_table(table));
      if (base_ != nullptr) base_->tables().add(table);
    }
  }

  std::span<const leaf> leaves_;
  const leaf_codecs& codecs_;
  delta_base* base_;  // may be null
  bool as_delta_;
  unsigned threads_;
  save_report& report_;
  std::function<void()> check_;
  std::map<std::size_t, leaf_reference> references_;  // by leaf
};

}  // namespace cairn::inline v0_1::detail
