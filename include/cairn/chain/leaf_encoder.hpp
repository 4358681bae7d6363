// Pieces of leaves in, the same pieces encoded out: chooses the codec of each, gives it what the parent checkpoint has, and keeps
// what a reader will have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/chain/delta_base.hpp"
#include "cairn/store/chain_metadata.hpp"
#include "cairn/core/piece.hpp"

namespace cairn::detail {

/// Leaves below this many bytes are stored as they are: their entry in the file's header is as long.
inline constexpr std::uint64_t least_encoded_bytes = 256;
/// Pieces from this many bytes on are encoded one after the other, each by all threads; smaller ones side by side.
inline constexpr std::uint64_t large_piece_bytes = std::uint64_t{4} << 20U;

/// A piece on its way through its codec.
struct piece_task {
  piece* which = nullptr;
  const leaf* whole = nullptr;
  std::size_t rule = 0;
  std::shared_ptr<page_buffer> packed{};  // of a strided leaf
  std::span<const std::byte> values{};    // row-major
  std::span<std::byte> parent{};          // what a reader has of them; empty: nothing
  std::span<std::byte> kept{};            // where the next delta will look for that; empty: not kept
  encode_result result{};
};

/// What a checkpoint with encoded pieces needs beside them.
struct encode_summary {
  bool is_delta = false;
  std::map<std::string, std::string, std::less<>> tables{};  // new ones, in the store's form
  std::vector<std::pair<std::string, loss>> lost{};          // by path; the pieces of a leaf one by one
};

/// A payload of `bytes` bytes at `at`, which `owner` keeps alive.
[[nodiscard]] inline std::shared_ptr<const encoded_piece> make_encoded_piece(encoding_info how, std::byte* at,
                                                                             std::shared_ptr<const void> owner,
                                                                             std::size_t bytes) {
  encoded_piece stored;
  stored.how = std::move(how);
  stored.payload.type = dtype::u8;
  stored.payload.shape = {bytes};
  stored.payload.memory = at;
  stored.payload.owner = std::move(owner);
  return std::make_shared<const encoded_piece>(std::move(stored));
}

/// The room before a staged piece that its codec needs to encode it in place; 0 where it cannot.
[[nodiscard]] inline std::size_t room_to_encode(const leaf& whole, std::size_t bytes,
                                                std::span<const codec_rule> rules) {
  const auto& codec = codec_for(whole.path, rules);
  if (whole.bytes() < least_encoded_bytes || codec.uses_parent() || !codec.encodes_in_place()) return 0;
  return codec.bound(whole.type, bytes) - bytes;
}

/// Encodes the pieces of one checkpoint, some shards at a time. With a chain, the references of the codecs that use them become what
/// a reader of this checkpoint has; when it cannot be published after all, they have to be forgotten.
class leaf_encoder {
 public:
  /// `check` is called now and then, from any thread; what it throws ends the encoding.
  leaf_encoder(std::span<const leaf> leaves, std::span<const codec_rule> rules, delta_base* chain, bool as_delta,
               unsigned threads, std::function<void()> check = {})
      : leaves_(leaves),
        rules_(rules),
        chain_(chain),
        as_delta_(as_delta),
        threads_(threads),
        check_(std::move(check)) {}

  /// Encodes the pieces of `shards` in place: over themselves where they are staged and the codec can, else into memory of the
  /// payloads. Throws what the codecs throw.
  void encode(std::span<std::vector<piece>> shards) {
    auto tasks = tasks_of(shards);
    const auto codecs = prepare(tasks);
    std::vector<piece_task*> small, large;
    for (auto& task : tasks) (task.values.size() < large_piece_bytes ? small : large).push_back(&task);
    const unsigned all = threads_ == 0 ? default_threads() : threads_;
    for (auto* task : large) encode_piece(*task, codecs[task->rule], all);
    parallel_for(small.size(), threads_,
                 [&](std::size_t i, unsigned) { encode_piece(*small[i], codecs[small[i]->rule], 1); });
    for (const auto& task : tasks) note(task);
  }

  /// What the checkpoint needs beside the pieces; to be called when all of them are encoded.
  [[nodiscard]] encode_summary finish() {
    if (chain_ != nullptr) {
      std::set<std::string_view> kept;
      for (const auto& [index, unused] : references_) kept.insert(leaves_[index].path);
      chain_->keep_only(kept);
    }
    return std::move(result_);
  }

  /// Code tables that came up since the last call, in the store's form.
  [[nodiscard]] std::map<std::string, std::string, std::less<>> take_tables() {
    return std::exchange(result_.tables, {});
  }

 private:
  /// What the chain has of a leaf, which may be cut into several pieces.
  struct remembered {
    delta_base::reference* reference = nullptr;
    bool is_of_parent = false;
  };

  remembered remember(std::size_t index) {
    const auto& whole = leaves_[index];
    const auto [at, is_first] = references_.try_emplace(index);
    if (!is_first) return at->second;
    auto* found = chain_->find(whole.path, whole.type, whole.shape);
    at->second = {found != nullptr ? found : &chain_->make(whole.path, whole.type, whole.shape), found && as_delta_};
    return at->second;
  }

  /// Lists the pieces that a codec is to see, with their values and references.
  [[nodiscard]] std::vector<piece_task> tasks_of(std::span<std::vector<piece>> shards) {
    std::vector<piece_task> tasks;
    for (auto& shard : shards)
      for (auto& each : shard) {
        const auto& whole = leaves_[each.leaf];
        const auto width = size_of(whole.type);
        piece_task task{.which = &each, .whole = &whole, .rule = rule_for(whole.path, rules_)};
        const auto& codec = codec_of_rule(task.rule, rules_);
        if (each.count == 0 || whole.bytes() < least_encoded_bytes || codec.name() == codecs::raw{}.name()) continue;
        if (chain_ != nullptr && codec.uses_parent()) {
          const auto [reference, is_of_parent] = remember(each.leaf);
          task.kept = reference->values.bytes().subspan(each.first * width, each.count * width);
          if (is_of_parent) task.parent = task.kept;
        }
        if (each.staged != nullptr) {
          task.values = {each.staged, each.count * width};
        } else if (whole.contiguous()) {
          task.values = {whole.memory + each.first * width, each.count * width};
        } else {
          task.packed = std::make_shared<page_buffer>(each.count * width);
          gather(whole, each.first, task.packed->bytes());
          task.values = task.packed->bytes();
        }
        tasks.push_back(std::move(task));
      }
    return tasks;
  }

  [[nodiscard]] encode_request request_of(const piece_task& task, unsigned threads) const {
    return {task.whole->path, task.whole->type, task.values,
            task.parent,      threads,          chain_ != nullptr ? &chain_->tables() : nullptr};
  }

  /// The codecs of all rules, and at the end that of no rule.
  [[nodiscard]] std::vector<any_codec> prepare(std::span<const piece_task> tasks) const {
    std::vector<any_codec> codecs;
    for (std::size_t rule = 0; rule <= rules_.size(); ++rule) {
      std::vector<encode_request> all;
      for (const auto& task : tasks)
        if (task.rule == rule) all.push_back(request_of(task, threads_));
      codecs.push_back(codec_of_rule(rule, rules_).prepare(all));
    }
    return codecs;
  }

  /// Encodes one piece and keeps what a reader will have of it.
  void encode_piece(piece_task& task, const any_codec& codec, unsigned threads) const {
    if (check_) check_();
    const auto request = request_of(task, threads);
    auto& result = task.result;
    const auto bound = codec.bound(request.type, request.values.size());
    const bool is_in_place = task.which->staged != nullptr && task.kept.empty() && codec.encodes_in_place() &&
                             bound <= task.which->room + request.values.size();
    std::byte* const staged = task.which->staged - (is_in_place ? task.which->room : 0);
    auto memory = std::make_shared<page_buffer>(is_in_place ? 0 : bound);
    result = codec.encode(request,
                          is_in_place ? std::span(staged, task.which->room + request.values.size()) : memory->bytes());
    if (!result.lost && !task.kept.empty()) std::memcpy(task.kept.data(), task.values.data(), task.values.size());
    if (result.codec.empty()) return;
    if (!is_in_place && result.bytes < large_piece_bytes) {  // a small one gives back the room that it did not need
      auto exact = std::make_shared<page_buffer>(result.bytes);
      std::memcpy(exact->bytes().data(), memory->bytes().data(), result.bytes);
      memory = std::move(exact);
    }
    const bool is_whole = task.which->count == task.whole->count();
    std::byte* const at = is_in_place ? staged : memory->bytes().data();
    task.which->encoded =
        make_encoded_piece({result.codec, task.whole->type, is_whole ? task.whole->shape : extents{task.which->count},
                            result.relative, result.lost},
                           at, std::move(memory), result.bytes);
  }

  void note(const piece_task& task) {
    result_.is_delta = result_.is_delta || task.result.relative;
    if (task.result.lost) result_.lost.emplace_back(task.whole->path, *task.result.lost);
    for (const auto& table : task.result.new_tables) {
      result_.tables.insert(write_code_table(table));
      if (chain_ != nullptr) chain_->tables().add(table);
    }
  }

  std::span<const leaf> leaves_;
  std::span<const codec_rule> rules_;
  delta_base* chain_;
  bool as_delta_;
  unsigned threads_;
  std::function<void()> check_;
  std::map<std::size_t, remembered> references_;  // by leaf
  encode_summary result_;
};

}  // namespace cairn::detail
