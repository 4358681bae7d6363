// Pieces of leaves in, the same pieces encoded out: chooses the codec of each, gives it what the parent checkpoint has, and keeps
// what a reader will have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/core/page_buffer.hpp"
#include "cairn/core/parallel.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/save_chain.hpp"
#include "cairn/store/lineage.hpp"
#include "cairn/store/piece.hpp"

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
  encoded result{};
};

/// What a checkpoint with encoded pieces needs beside them.
struct encoding_result {
  bool is_delta = false;
  std::map<std::string, std::string, std::less<>> tables{};  // new ones, in the store's form
  std::vector<std::pair<std::string, loss>> lost{};          // by path; the pieces of a leaf one by one
};

[[nodiscard]] inline any_codec codec_of_rule(std::size_t rule, std::span<const codec_rule> rules) {
  return rule < rules.size() ? rules[rule].codec : any_codec(codecs::lossless{});
}

/// A code table in the store's form: its id and one hexadecimal digit per byte value.
[[nodiscard]] inline std::pair<std::string, std::string> table_text(const code_table& table) {
  std::string digits;
  for (const auto length : table.lengths) digits += "0123456789abc"[length % 13];
  return {to_hex(table.id), std::move(digits)};
}

/// A payload of `bytes` bytes in memory of its own.
[[nodiscard]] inline std::shared_ptr<const encoded_piece> make_encoded_piece(encoding how,
                                                                             std::shared_ptr<page_buffer> memory,
                                                                             std::size_t bytes) {
  encoded_piece stored;
  stored.how = std::move(how);
  stored.payload.type = dtype::u8;
  stored.payload.shape = {bytes};
  stored.payload.memory = memory->bytes().data();
  stored.payload.owner = std::move(memory);
  return std::make_shared<const encoded_piece>(std::move(stored));
}

/// Lists the pieces that a codec is to see, with their values and references.
[[nodiscard]] inline std::vector<piece_task> tasks_of(std::span<const leaf> leaves, division& shards,
                                                      std::span<const codec_rule> rules, save_chain* chain,
                                                      bool as_delta) {
  struct memory {
    save_chain::reference* reference = nullptr;
    bool is_of_parent = false;
  };
  std::map<std::size_t, memory> of_leaf;  // a leaf may be cut into several pieces
  const auto remembered = [&](std::size_t index) {
    const auto& whole = leaves[index];
    const auto [at, is_first] = of_leaf.try_emplace(index);
    if (!is_first) return at->second;
    auto* found = chain->find(whole.path, whole.type, whole.shape);
    at->second = {found != nullptr ? found : &chain->make(whole.path, whole.type, whole.shape), found && as_delta};
    return at->second;
  };
  std::vector<piece_task> tasks;
  for (auto& shard : shards)
    for (auto& piece : shard) {
      const auto& whole = leaves[piece.leaf];
      const auto width = size_of(whole.type);
      piece_task task{.which = &piece, .whole = &whole, .rule = rule_for(whole.path, rules)};
      const auto codec = codec_of_rule(task.rule, rules);
      if (piece.count == 0 || whole.bytes() < least_encoded_bytes || codec.name() == codecs::raw{}.name()) continue;
      if (chain != nullptr && codec.uses_parent()) {
        const auto [reference, is_of_parent] = remembered(piece.leaf);
        task.kept = reference->values.bytes().subspan(piece.first * width, piece.count * width);
        if (is_of_parent) task.parent = task.kept;
      }
      if (whole.contiguous()) {
        task.values = {whole.memory + piece.first * width, piece.count * width};
      } else {
        task.packed = std::make_shared<page_buffer>(piece.count * width);
        gather(whole, piece.first, task.packed->bytes());
        task.values = task.packed->bytes();
      }
      tasks.push_back(std::move(task));
    }
  if (chain != nullptr) {
    std::set<std::string_view> kept;
    for (const auto& [index, unused] : of_leaf) kept.insert(leaves[index].path);
    chain->keep_only(kept);
  }
  return tasks;
}

/// Encodes one piece and keeps what a reader will have of it.
inline void encode_piece(piece_task& task, const any_codec& codec, const code_tables* known, unsigned threads) {
  const encode_request request{task.whole->path, task.whole->type, task.values, task.parent, threads, known};
  auto memory = std::make_shared<page_buffer>(codec.bound(request.type, request.values.size()));
  task.result = codec.encode(request, memory->bytes());
  auto& result = task.result;
  if (!result.lost && !task.kept.empty()) std::memcpy(task.kept.data(), task.values.data(), task.values.size());
  if (result.codec.empty()) return;
  if (result.bytes < large_piece_bytes) {  // a small one gives back the room that it did not need
    auto exact = std::make_shared<page_buffer>(result.bytes);
    std::memcpy(exact->bytes().data(), memory->bytes().data(), result.bytes);
    memory = std::move(exact);
  }
  const bool is_whole = task.which->count == task.whole->count();
  task.which->encoded =
      make_encoded_piece({result.codec, task.whole->type, is_whole ? task.whole->shape : extents{task.which->count},
                          result.relative, result.lost},
                         std::move(memory), result.bytes);
}

/// Encodes the pieces of `shards` in place, each by the codec that `rules` choose. With a chain, the references of the codecs that
/// use them become what a reader of this checkpoint has; when it cannot be published after all, they have to be forgotten. Memory:
/// that of the payloads, and of the references. Throws what the codecs throw.
[[nodiscard]] inline encoding_result encode_leaves(std::span<const leaf> leaves, division& shards,
                                                   std::span<const codec_rule> rules, save_chain* chain, bool as_delta,
                                                   unsigned threads) {
  auto tasks = tasks_of(leaves, shards, rules, chain, as_delta);
  const code_tables* known = chain != nullptr ? &chain->tables() : nullptr;
  std::vector<any_codec> codecs;
  for (std::size_t rule = 0; rule <= rules.size(); ++rule) {
    std::vector<encode_request> all;
    for (const auto& task : tasks)
      if (task.rule == rule)
        all.push_back({task.whole->path, task.whole->type, task.values, task.parent, threads, known});
    codecs.push_back(codec_of_rule(rule, rules).prepare(all));
  }
  std::vector<piece_task*> small, large;
  for (auto& task : tasks) (task.values.size() < large_piece_bytes ? small : large).push_back(&task);
  for (auto* task : large) encode_piece(*task, codecs[task->rule], known, threads == 0 ? default_threads() : threads);
  parallel_for(small.size(), threads,
               [&](std::size_t i, unsigned) { encode_piece(*small[i], codecs[small[i]->rule], known, 1); });

  encoding_result done;
  for (const auto& task : tasks) {
    done.is_delta = done.is_delta || task.result.relative;
    if (task.result.lost) done.lost.emplace_back(task.whole->path, *task.result.lost);
    for (const auto& table : task.result.new_tables) {
      done.tables.insert(table_text(table));
      if (chain != nullptr) chain->tables().add(table);
    }
  }
  return done;
}

}  // namespace cairn::detail
