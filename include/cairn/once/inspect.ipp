// SPDX-License-Identifier: MIT
// Definitions of inspect.hpp.
#pragma once

#include <mutex>
#include <utility>

#include "cairn/chain/load.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/inspect.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/file_sink.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/stored_checkpoint.hpp"
#include "cairn/system/posix.hpp"

namespace cairn::inline v0_1 {
namespace detail {

/// Is there one checkpoint at `path`, or a single file?
inline bool is_checkpoint(const std::string& path) {
  if (is_single(path) || is_file(path + "/" + std::string(index_file))) return true;
  const auto [directory, name] = split_existing(path);  // a newer generation may be there alone
  try {
    return stores::detail::has_publication(directory, name);
  } catch (const error&) {  // a place of checkpoints may be in a directory that cannot be listed
    if (!is_directory(path) && is_directory(directory)) throw;
    return false;
  }
}

/// Where the one checkpoint at `path` is. A user may give the name of a generation.
inline path_parts place_of_checkpoint(const std::string& path) {
  auto place = split_existing(path);
  if (auto parsed = parse_generation(place.name)) place.name = std::move(parsed->name);
  return place;
}

/// Opens the one checkpoint, or the single file, at `path`.
inline std::shared_ptr<const chain_reader> open_checkpoint(const std::string& path, const codec_rules& codecs) {
  if (is_single(path)) return std::make_shared<const chain_reader>(stores::detail::open_file(path), path, codecs);
  const auto place = place_of_checkpoint(path);
  return open_chain(stores::directory(place.directory), [&] { return place.name; }, codecs);
}

inline tensor_info describe_tensor(const stored_checkpoint& from, std::size_t index) {
  const auto& stored = from.contents.leaves[index];
  tensor_info info{.name = stored.path, .type = stored.type, .shape = stored.shape, .bytes = stored.bytes()};
  const auto& storage = from.index.storage[index];
  info.stored_bytes = storage.encoded ? storage.encoded->stored : info.bytes;
  if (storage.encoded) {
    info.codec = storage.encoded->codec;
    info.is_delta = storage.encoded->relative;
    info.lost = storage.encoded->lost;
  }
  if (storage.restored) info.restored = *storage.restored;
  return info;
}

}  // namespace detail

struct checkpoint::contents {
  std::shared_ptr<const detail::chain_reader> reader;
  mutable std::once_flag listing;
  mutable std::vector<tensor_info> tensors;  // made once, by `tensors()`
};

checkpoint::checkpoint(std::shared_ptr<const detail::chain_reader> reader) {
  auto made = std::make_shared<contents>();
  made->reader = std::move(reader);
  contents_ = std::move(made);
}

const detail::chain_reader& checkpoint::reader() const noexcept { return *contents_->reader; }

const detail::chain_reader& detail::reader_of(const checkpoint& of) noexcept { return of.reader(); }

const std::vector<tensor_info>& checkpoint::tensors() const& {
  std::call_once(contents_->listing, [&] {
    std::vector<tensor_info> all;
    for (std::size_t i = 0; i < reader().contents().leaves.size(); ++i)
      all.push_back(detail::describe_tensor(reader().newest(), i));
    contents_->tensors = std::move(all);
  });
  return contents_->tensors;
}

std::vector<tensor_info> checkpoint::tensors() && { return tensors(); }

const std::string& checkpoint::path() const& { return reader().contents().origin; }

std::string checkpoint::path() && { return path(); }

std::uint64_t checkpoint::step() const { return reader().step(); }

const std::map<std::string, double>& checkpoint::metrics() const& { return reader().info().metrics; }

std::map<std::string, double> checkpoint::metrics() && { return metrics(); }

const std::map<std::string, std::string>& checkpoint::metadata() const& { return reader().info().metadata; }

std::map<std::string, std::string> checkpoint::metadata() && { return metadata(); }

bool checkpoint::contains(std::string_view name) const noexcept {
  return reader().contents().find(name) != detail::catalog::npos;
}

std::size_t checkpoint::index_of(std::string_view name) const {
  const auto index = reader().contents().find(name);
  if (index == detail::catalog::npos) fail(errc::not_found, {path(), ": there is no tensor \"", name, "\""});
  return index;
}

tensor_info checkpoint::tensor(std::string_view name) const {
  return detail::describe_tensor(reader().newest(), index_of(name));
}

std::size_t checkpoint::elements_of(std::string_view name, dtype type) const {
  const auto& info = reader().contents().leaves[index_of(name)];
  if (info.type != type)
    fail(errc::mismatch, {path(), ": \"", name, "\" is ", cairn::name(info.type), ", not ", cairn::name(type)});
  return element_count(info.shape);
}

void checkpoint::read(std::string_view name, std::span<std::byte> into) const {
  const auto index = index_of(name);
  const auto& info = reader().contents().leaves[index];
  if (into.size() != info.bytes())
    fail(errc::mismatch,
         {path(), ": \"", name, "\" has ", info.bytes(), " bytes, the memory for it has ", into.size()});
  const detail::read_request all[] = {{index, {info.type, info.shape, into.data(), {}}}};
  detail::with_errors(sentence({path(), ": \"", name, "\" cannot be read"}), [&] { reader().read(all); });
}

void checkpoint::verify(unsigned threads) const {
  detail::with_errors(path() + " cannot be verified", [&] { reader().verify(threads); });
}

namespace detail {

/// Nothing if the checkpoint has gone since it was listed.
inline std::optional<checkpoint_summary> summary_of(const any_store& store, const std::string& name) {
  checkpoint_summary made{.name = name, .step = parse_checkpoint_name(name).value_or(0)};
  try {
    auto index = read_newest_index(store, name, index_part::metadata);
    made.step = index.info.step;
    made.metrics = std::move(index.info.metrics);
    if (index.parent) made.parent = std::move(index.parent->name);
    made.bytes = index.text_bytes;
    for (const auto& shard : index.shards) made.bytes += shard.bytes;
  } catch (const error& cause) {
    if (cause.code() == errc::not_found) return std::nullopt;
    if (cause.code() == errc::no_memory) throw;
    made.problem = cause.what();
  }
  return made;
}

}  // namespace detail

std::vector<checkpoint_summary> list_checkpoints(const any_store& store) {
  std::vector<checkpoint_summary> all;
  for (const auto& name : store.list())
    if (auto made = detail::summary_of(store, name)) all.push_back(std::move(*made));
  return all;
}

std::vector<checkpoint_summary> list_checkpoints(const std::string& path) {
  if (!detail::is_directory(path)) fail(errc::not_found, {"there is no directory ", path});
  return list_checkpoints(any_store(stores::directory(path)));
}

checkpoint open(const std::string& path, const codec_rules& codecs) {
  if (detail::is_checkpoint(path))
    return detail::with_errors(path + " cannot be opened",
                               [&] { return checkpoint(detail::open_checkpoint(path, codecs)); });
  return open(any_store(stores::directory(path)), codecs);
}

checkpoint open(const any_store& store, const codec_rules& codecs) {
  const auto newest = [&] {
    const auto names = store.list();
    if (names.empty()) fail(errc::not_found, {"there is no checkpoint in ", store.location()});
    return names.back();
  };
  return detail::with_errors(store.location() + " cannot be opened",
                             [&] { return checkpoint(detail::open_chain(store, newest, codecs)); });
}

checkpoint open(const any_store& store, std::string_view name, const codec_rules& codecs) {
  return detail::with_errors(sentence({store.location(), "/", name, " cannot be opened"}), [&] {
    return checkpoint(detail::open_chain(store, [&] { return std::string(name); }, codecs));
  });
}

}  // namespace cairn::inline v0_1
