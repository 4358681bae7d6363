// SPDX-License-Identifier: MIT
// Definitions of reader.hpp.
#pragma once

#include <algorithm>

#include "cairn/chain/reader.hpp"
#include "cairn/encode/code_table_text.hpp"

namespace cairn::inline v0_1::detail {

[[nodiscard]] inline bool needs_parent(const checkpoint_reader& link) {
  for (std::size_t leaf = 0; leaf < link.contents().leaves.size(); ++leaf)
    if (link.is_relative(leaf)) return true;
  return false;
}

chain_reader::chain_reader(const any_store& store, std::string_view name, codec_rules rules)
    : chain_reader(std::move(rules)) {
  open(store, name);
}

void chain_reader::open(const any_store& store, std::string_view name, index_texts* texts) {
  begin_with(std::make_shared<checkpoint_reader>(store, name, files_, texts));
  names_ = {std::string(name)};
  open_ancestors(store, texts);
}

chain_reader::chain_reader(std::unique_ptr<stores::source> file, std::string origin, codec_rules rules)
    : rules_(std::move(rules)) {
  begin_with(std::make_shared<checkpoint_reader>(std::move(file), std::move(origin)));
  if (needs_parent(newest()))
    fail(errc::unsupported,
         {contents().origin,
          ": is built on another checkpoint and cannot be loaded alone; load the directory of checkpoints"});
}

void chain_reader::open_ancestors(const any_store& store, index_texts* texts) {
  while (needs_parent(*links_.back())) {
    const auto& child = *links_.back();
    const auto& origin = child.contents().origin;
    const auto& link = *child.parent();
    std::shared_ptr<const checkpoint_reader> parent;
    try {
      parent = std::make_shared<const checkpoint_reader>(store, link.name, files_, texts);
    } catch (const error& cause) {
      if (cause.code() != errc::not_found) throw;
      fail(errc::corrupt, {origin, ": is built on checkpoint ", link.name, ", which is not there"});
    }
    if (parent->id() != link.id)
      fail(errc::corrupt, {origin, ": is built on a checkpoint ", link.name, " other than the one that is there"});
    if (parent->step() >= child.step())
      fail(errc::corrupt, {origin, ": is built on ", link.name, ", which is not older"});
    links_.push_back(std::move(parent));
    names_.push_back(link.name);
  }
}

/// Makes it the newest link, whose contents fetch leaves that the whole chain decodes.
void chain_reader::begin_with(const std::shared_ptr<checkpoint_reader>& newest) {
  newest->set_fetch([this](std::size_t index, std::span<std::byte> out) {
    const read_request all[] = {request_for(contents().origin, contents().leaves, index, out)};
    read(all, {.threads = 1});
  });
  links_ = {newest};
}

/// The tables that payloads of a shard name.
std::shared_ptr<const code_tables> chain_reader::tables_of(std::size_t link, std::size_t shard) const {
  const auto& from = *links_[link];
  const std::lock_guard lock(mutex_);
  auto& tables = tables_[{link, shard}];
  if (!tables) {
    code_tables all;
    for (const auto& [id, digits] : from.tables_of(shard))
      if (const auto table = read_code_table(id, digits, from.contents().origin); all.find(table.id) == nullptr)
        all.add(table);
    tables = std::make_shared<const code_tables>(std::move(all));
  }
  return tables;
}

code_tables chain_reader::tables() const {
  code_tables all;
  for (std::size_t link = links_.size(); link-- > 0;)
    for (std::size_t shard = 0; shard < links_[link]->shards(); ++shard) {
      if (!links_[link]->is_parsed(shard)) continue;
      for (const auto& table : tables_of(link, shard)->all())
        if (all.find(table.id) == nullptr) all.add(table);
    }
  return all;
}

void chain_reader::open_shards() const {
  std::size_t left = std::min<std::size_t>(64, files_->most());
  for (const auto& link : links_)
    for (std::size_t shard = 0; shard < link->shards() && left > 0; ++shard, --left)
      static_cast<void>(link->data_bytes(shard));
}

bool chain_reader::is_outdated(const any_store& store) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (links_[i]->is_outdated(store, names_[i])) return true;
  return false;
}

chain_reader::leaf_plan chain_reader::plan_of(std::size_t leaf) const {
  leaf_plan plan{leaf};
  const auto& wanted = contents().leaves[leaf];
  for (std::size_t link = 0; links_[link]->is_relative(plan[link]); ++link) {
    const auto& parent = links_[link + 1]->contents();
    const auto index = parent.find(wanted.path);
    if (index == catalog::npos || parent.leaves[index].type != wanted.type ||
        parent.leaves[index].shape != wanted.shape)
      fail(errc::corrupt, {links_[link]->contents().origin, ": \"", wanted.path,
                           "\" is stored relative to its parent, which has no such leaf"});
    plan.push_back(index);
  }
  return plan;
}

bool chain_reader::decodes_ranges(std::size_t leaf) const {
  const auto plan = plan_of(leaf);
  for (std::size_t link = 0; link < plan.size(); ++link)
    if (const auto& how = links_[link]->storage_of(plan[link]).encoded)
      if (!codec_named(how->codec, rules_, links_[link]->contents().origin).decodes_ranges()) return false;
  return true;
}

void chain_reader::verify(unsigned threads) const {
  newest().verify(threads);
  std::vector<std::size_t> all(contents().leaves.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  if (links_.size() > 1) verify(all, threads);
}

void chain_reader::verify(std::span<const std::size_t> leaves, unsigned threads) const {
  std::vector<std::vector<std::size_t>> of_link(links_.size());
  for (const auto leaf : leaves) {
    const auto plan = plan_of(leaf);
    for (std::size_t link = 0; link < plan.size(); ++link) of_link[link].push_back(plan[link]);
  }
  for (std::size_t link = 0; link < links_.size(); ++link) links_[link]->verify(of_link[link], threads);
}

void chain_reader::require_slices(std::size_t leaf, const leaf_part& part) const {
  const auto plan = plan_of(leaf);
  for (std::size_t link = 0; link < plan.size(); ++link)
    for (const auto& slice : links_[link]->slices_of(plan[link], part)) {
      if (slice.encoded == nullptr) continue;
      static_cast<void>(codec_named(slice.encoded->codec, rules_, links_[link]->file_of(slice)));
      static_cast<void>(tables_of(link, slice.shard));
    }
}

}  // namespace cairn::inline v0_1::detail
