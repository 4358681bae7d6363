// SPDX-License-Identifier: MIT
// Definitions of index.hpp, and of the text of a shard_record, which has parts of an index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/leaf_text.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/json.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

std::uint64_t checkpoint_id(const checkpoint_index& index) noexcept {
  if (index.id) return *index.id;
  running_checksum sum;
  const auto add = [&](const std::uint64_t& number) { sum.add(std::as_bytes(std::span(&number, 1))); };
  for (const auto& shard : index.shards) add(shard.header_checksum);
  if (index.parent) add(index.parent->id);
  return sum.value();
}

inline constexpr std::string_view zero_checksum = "0000000000000000";

std::uint64_t index_checksum(std::string_view text) {
  const auto bytes = [](std::string_view part) { return std::as_bytes(std::span(part.data(), part.size())); };
  running_checksum sum;
  sum.add(bytes(index_opening));
  sum.add(bytes(zero_checksum));
  sum.add(bytes(text.substr(index_opening.size() + checksum_digits)));
  return sum.value();
}

/// {"name":"step-000000120","id":"0123456789abcdef"}
template <class Io>
void describe(Io& io, described<Io, checkpoint_ref>& parent) {
  io.object([&] {
    io.field("name", parent.name);
    io.field("id", [&] { describe_digits(io, parent.id); });
  });
  io.require(is_checkpoint_name(parent.name), "cannot name a checkpoint");
}

template <class Io>
void describe(Io& io, described<Io, index_shard>& shard) {
  io.line();
  io.object([&] {
    io.field("file", shard.file);
    io.field("bytes", shard.bytes);
    io.field("header_xxh3", [&] { describe_digits(io, shard.header_checksum); });
    io.optional("role", shard.role);
  });
}

template <class Io>
void describe_metadata(Io& io, described<Io, checkpoint_index>& index, std::string_view origin) {
  std::string checksum(zero_checksum), format = "cairn", version(format_version);
  io.object([&] {
    io.field("checksum", checksum);
    io.field("format", format);
    io.field("version", version);
    require_version(version, origin);
    io.field("step", index.info.step);
    io.field("total_size", index.total_size);
    io.optional("parent", index.parent);
    if (Io::reads || index.id) io.optional("id", [&] { describe_digits(io, index.id); });
    io.field("metrics", index.info.metrics);
    io.optional("user", index.info.metadata);
    io.optional("notes", index.info.notes);
    io.field("shards", index.shards);
  });
  io.require(format == "cairn", "are not of the format \"cairn\"");
  if constexpr (Io::reads)
    for (auto& [name, numbers] : index.info.notes) numbers.shrink_to_fit();
}

template <class Io>
void describe_leaves(Io& io, described<Io, checkpoint_index>& index) {
  auto& leaves = index.leaves;
  io.list(leaves.size(), [&](std::size_t i) {
    if constexpr (Io::reads) {
      leaves.emplace_back();
      index.storage.emplace_back();
    }
    auto& leaf = leaves[i];
    auto& storage = index.storage[i];
    layout_text<Io> layout;
    maybe<Io, leaf_encoding> encoded{};
    maybe<Io, restored_loss> restored{};
    if constexpr (!Io::reads) {
      layout = text_of(storage.layout);
      encoded = storage.encoded.get();
      restored = storage.restored.get();
    }
    io.line();
    io.object([&] {
      io.field("path", leaf.path);
      io.field("dtype", leaf.type);
      io.field("shape", [&] { describe_shape(io, leaf.shape); });
      describe_layout(io, layout);
      describe_encoding(io, encoded);
      io.optional("restored", restored);
    });
    if constexpr (Io::reads) {
      auto made = layout_of(std::move(layout));
      io.require(made.has_value(), "does not say in one way where the leaf is");
      io.require(!encoded || !encoded->codec.empty(), "is encoded by no codec");
      storage.layout = std::move(*made);
      if (encoded) storage.encoded = std::make_shared<const leaf_encoding>(std::move(*encoded));
      if (restored) storage.restored = std::make_shared<const restored_loss>(*restored);
    }
    io.require(i == 0 || leaves[i - 1].path < leaves[i].path, "does not have a path above that of the leaf before");
  });
}

template <class Io>
void describe(Io& io, described<Io, checkpoint_index>& index, std::string_view origin, index_part part) {
  io.object([&] {
    io.field("metadata", [&] { describe_metadata(io, index, origin); });
    if constexpr (Io::reads)
      if (part == index_part::metadata) return io.ignore_rest();
    io.line();
    io.field("leaves", [&] { describe_leaves(io, index); });
    io.line();
    io.field("structure", index.structure);
    io.line();
    io.field("weight_map", [&] {  // the files of the leaves that are in one piece: for other programs
      if constexpr (Io::reads)
        io.skip();
      else
        io.object([&] {
          for (std::size_t i = 0; i < index.leaves.size(); ++i)
            if (const auto& layout = index.storage[i].layout; layout.cuts == nullptr) {
              io.line();
              io.field(index.leaves[i].path, index.shards[layout.shard].file);
            }
        });
    });
  });
}

std::string write_index(const checkpoint_index& index) {
  json_writer io;
  describe(io, index, {}, index_part::all);
  auto text = io.take() + '\n';
  if (text.size() > max_header_bytes)
    fail(errc::invalid, {index.leaves.size(), " leaves are too many for one checkpoint"});
  text.replace(index_opening.size(), checksum_digits, to_hex(index_checksum(text)));
  return text;
}

/// Checks the parts of an index against each other.
inline void check_parts(const checkpoint_index& index, std::string_view origin) {
  std::uint64_t bytes = 0;
  for (const auto& shard : index.shards) bytes += shard.bytes;
  const auto has_leaves = [](const index_shard& shard) { return shard.role.empty(); };
  const auto others = std::find_if_not(index.shards.begin(), index.shards.end(), has_leaves);
  if (std::any_of(others, index.shards.end(), has_leaves))
    fail(errc::corrupt, {origin, ": shards of other roles are not the last ones"});
  const auto shards = static_cast<std::size_t>(others - index.shards.begin());
  std::set<std::string_view> taken{index_file};
  for (const auto& shard : std::span(index.shards).first(shards))
    if (!is_own_file(shard.file) || !taken.insert(shard.file).second)
      fail(errc::corrupt, {origin, ": \"", shard.file, "\" is not the name of a shard, or that of two"});
  constexpr std::uint64_t least_piece_bytes = 32;  // in the header of a shard
  for (std::size_t i = 0; i < index.leaves.size(); ++i) {
    const auto& [path, type, shape] = index.leaves[i];
    const auto& storage = index.storage[i];
    const auto corrupt = [&](std::string_view why) { fail(errc::corrupt, {origin, ": \"", path, "\" ", why}); };
    std::uint64_t needed = 0;
    if (!checked_bytes(shape, size_of(type), needed)) corrupt("has a shape of more than 2^64 bytes");
    const auto stored = storage.encoded ? storage.encoded->stored : needed;
    if (stored > index.total_size || needed / max_expansion > stored)
      corrupt(sentence({"has ", stored, " stored bytes, too few or too many for its elements or its checkpoint"}));
    if (storage.encoded && storage.encoded->relative && !index.parent)
      corrupt("is stored relative to a parent, but there is none");
    if (const auto fault = find_fault(storage.layout, shape, shards, bytes / least_piece_bytes); !fault.empty())
      corrupt(fault);
  }
}

[[noreturn]] inline void refuse_index(std::string_view origin) {
  fail(errc::corrupt, {origin, ": not the index of a cairn checkpoint"});
}

checkpoint_index parse_index(std::string_view text, std::string_view origin, index_part part) {
  const std::size_t opening = index_opening.size();
  if (!text.starts_with(index_opening) || text.size() < opening + checksum_digits) refuse_index(origin);
  const auto stored = parse_hex(text.substr(opening, checksum_digits));
  if (!stored || *stored != index_checksum(text))
    fail(errc::corrupt, {origin, ": its checksum does not match: truncated or damaged"});
  checkpoint_index index{.text_bytes = text.size()};
  const auto malformed = sentence({origin, ": malformed index"});
  json_reader io(text, malformed);
  describe(io, index, origin, part);
  io.end();
  check_parts(index, origin);
  return index;
}

std::string read_index_text(const stores::publication& of) {
  const auto file = of.open(index_file);
  const auto origin = sentence({of.location(), "/", index_file});
  if (file->size() > max_header_bytes)
    fail(errc::corrupt, {origin, ": ", file->size(), " bytes are more than any index has"});
  const auto opening = stores::read_text(*file, 0, std::min<std::uint64_t>(file->size(), index_opening.size()));
  if (opening != index_opening) refuse_index(origin);
  require_memory(json_memory_factor * file->size(), origin);
  return stores::read_text(*file, 0, file->size());
}

checkpoint_index read_index(const stores::publication& of, index_part part) {
  return parse_index(read_index_text(of), sentence({of.location(), "/", index_file}), part);
}

bool has_whole_chain(const any_store& store, checkpoint_ref which) {
  try {
    std::optional<std::uint64_t> child_step;
    while (true) {
      auto index = read_index(*store.open(which.name), index_part::metadata);
      const auto step = index.info.step;
      if (checkpoint_id(index) != which.id || (child_step && step >= *child_step)) return false;
      if (!index.parent) return true;
      child_step = step;
      which = std::move(*index.parent);
    }
  } catch (const error&) {
    return false;
  }
}

template <class Io>
void describe(Io& io, described<Io, leaf>& of) {
  maybe<Io, box_place> place{};
  if constexpr (!Io::reads) place = of.place.get();
  io.object([&] {
    io.field("path", of.path);
    io.field("dtype", of.type);
    io.field("shape", [&] { describe_shape(io, of.shape); });
    io.part("first", place, &box_place::first);
    io.part("whole", place, &box_place::whole);
  });
  if constexpr (Io::reads)
    if (place) of.place = std::make_shared<const box_place>(std::move(*place));
}

template <class Io>
void describe(Io& io, described<Io, shard_record>& record) {
  auto at = record.encoded.begin();
  const auto encodings = [&] {  // each with the number of its leaf
    io.list(record.encoded.size(), [&](std::size_t) {
      std::size_t leaf = 0;
      maybe<Io, leaf_encoding> how{};
      if constexpr (!Io::reads) {
        leaf = at->first;
        how = &(at++)->second;
      }
      io.object([&] {
        io.field("leaf", leaf);
        describe_encoding(io, how);
      });
      if constexpr (Io::reads) record.encoded.insert_or_assign(leaf, std::move(how).value_or(leaf_encoding{}));
    });
  };
  io.object([&] {
    io.field("shards", record.shards);
    io.field("data", record.data_bytes);
    io.field("encoded", encodings);
    io.field("own", record.own);
    io.field("structure", record.own_structure);
    io.field("sample", record.sample);
  });
}

std::string write_shard_record(const shard_record& record) { return to_json(record); }

shard_record read_shard_record(std::string_view text, std::string_view origin) {
  try {
    return from_json<shard_record>(text, origin);
  } catch (const error& cause) {
    if (cause.code() != errc::unsupported) throw;
    throw error(errc::corrupt, std::string(cause.sentence()));  // no rank has a type that Cairn cannot hold
  }
}

}  // namespace cairn::inline v0_1::detail
