// SPDX-License-Identifier: MIT
// Reads a checkpoint and its ancestors, and decodes every leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/reader.hpp"

namespace cairn::inline v0_1::detail {

struct placed_request;

/// A published checkpoint, open for loading. A delta is opened with its ancestors up to the first that needs no parent.
/// Shards are opened when they are needed, and few are open at a time. Thread-safe after construction.
class chain_reader {
 public:
  /// Opens nothing: `open` does.
  explicit chain_reader(codec_rules rules = {}) : rules_(std::move(rules)) {}

  /// Opens checkpoint `name`.
  chain_reader(const any_store& store, std::string_view name, codec_rules rules = {});

  /// Opens a single safetensors file, which Cairn need not have written. errc::unsupported for a file of a delta.
  chain_reader(std::unique_ptr<stores::source> file, std::string origin, codec_rules rules = {});

  chain_reader(const chain_reader&) = delete;  // contents().fetch refers to it
  chain_reader& operator=(const chain_reader&) = delete;
  ~chain_reader() = default;

  /// Opens checkpoint `name`. Errors: not_found; corrupt, also where an ancestor is missing or another checkpoint has
  /// its name; unsupported; io.
  void open(const any_store& store, std::string_view name, index_texts* texts = nullptr);

  [[nodiscard]] const catalog& contents() const noexcept { return newest().contents(); }
  [[nodiscard]] std::uint64_t step() const noexcept { return newest().step(); }
  [[nodiscard]] const std::map<std::string, double>& metrics() const noexcept { return newest().metrics(); }

  /// The checkpoint, its parent, and so on to the first one that needs no parent.
  [[nodiscard]] std::span<const std::shared_ptr<const checkpoint_reader>> links() const noexcept { return links_; }
  [[nodiscard]] const checkpoint_reader& newest() const noexcept { return *links_.front(); }
  /// The code tables of all shards whose headers have been read, the newest last.
  [[nodiscard]] code_tables tables() const;

  /// The code tables that payloads of a shard of a link name.
  [[nodiscard]] std::shared_ptr<const code_tables> tables_of(std::size_t link, std::size_t shard) const;

  /// Reads the headers of the first 64 shards of the chain, or of as many as a quarter of the files that the process
  /// may open, the newest link first. These files stay open, and so readable when their checkpoint is removed.
  void open_shards() const;

  /// Whether a link that is open has been removed or followed by another publication, so that the chain has to be
  /// opened again. Also after `open` has failed.
  [[nodiscard]] bool is_outdated(const any_store& store) const;
  [[nodiscard]] std::span<const codec_rule> rules() const noexcept { return rules_; }

  /// Checks the checksums of all leaves, or of the given ones, in all links. errc::corrupt names file, byte and leaf.
  void verify(unsigned threads = 0) const;
  void verify(std::span<const std::size_t> leaves, unsigned threads = 0) const;

  /// Opens the shards of a part of a leaf in all links, and checks that its codecs are known. errc::unsupported names
  /// file and codec; corrupt.
  void require_slices(std::size_t leaf, const leaf_part& part = {}) const;

  /// Whether some elements of a leaf take less time to read than all: the codecs of its payloads decode ranges. By the
  /// indexes. errc::unsupported: a codec is not known.
  [[nodiscard]] bool decodes_ranges(std::size_t leaf) const;

  /// Reads whole leaves, boxes or runs of them, into memory: those stored as they are together, the others decoded.
  /// Errors: mismatch for memory of another dtype or size; corrupt, after which the memory may have changed, unless all
  /// of it had been verified.
  void read(std::span<const read_request> requests, const read_options& options = {}) const;

 private:
  void begin_with(const std::shared_ptr<checkpoint_reader>& newest);
  void open_ancestors(const any_store& store, index_texts* texts);
  /// The index of a leaf in each link that decodes it: the newest first, to the first one that holds it whole.
  [[nodiscard]] std::vector<std::size_t> plan_of(std::size_t leaf) const;
  void read_decoded(std::span<const placed_request> requests, const read_options& options) const;

  codec_rules rules_;
  std::shared_ptr<file_pool> files_ = std::make_shared<file_pool>();
  std::vector<std::shared_ptr<const checkpoint_reader>> links_;
  std::vector<std::string> names_;  // of the links, in their store
  mutable std::mutex mutex_;        // guards `tables_`
  mutable std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const code_tables>>
      tables_;  // by link and shard
};

}  // namespace cairn::inline v0_1::detail
