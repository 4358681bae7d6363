// A checkpoint and the ones that it is built on, open: gives every leaf as it was saved, decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/config.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/reader.hpp"

namespace cairn {

/// A published checkpoint, open for loading. A delta is opened together with its ancestors up to the one that needs no other.
/// Thread-safe after construction.
class chain_reader {
 public:
  /// Opens checkpoint `name`. Errors: not_found; corrupt, also where an ancestor is missing or is another one than the delta was
  /// built on; unsupported; io.
  chain_reader(const any_store& store, std::string_view name, codec_rules rules = {});

  /// Opens a single safetensors file, Cairn's or any other's. errc::unsupported for one of a delta.
  chain_reader(std::unique_ptr<stores::source> file, std::string origin, codec_rules rules = {});

  chain_reader(const chain_reader&) = delete;  // `contents` reads through it
  chain_reader& operator=(const chain_reader&) = delete;
  ~chain_reader() = default;

  [[nodiscard]] const catalog& contents() const noexcept { return contents_; }
  [[nodiscard]] std::uint64_t step() const noexcept { return newest().step(); }
  [[nodiscard]] const std::map<std::string, double>& metrics() const noexcept { return newest().metrics(); }

  /// The checkpoint itself first, then its parent, and so on to one that needs no other.
  [[nodiscard]] std::span<const std::shared_ptr<const checkpoint_reader>> links() const noexcept { return links_; }
  [[nodiscard]] const checkpoint_reader& newest() const noexcept { return *links_.front(); }
  [[nodiscard]] const code_tables& tables() const noexcept { return tables_; }
  [[nodiscard]] std::span<const codec_rule> rules() const noexcept { return rules_; }

  /// Checks the stored bytes of all leaves, or of the given ones, in all links. errc::corrupt names file, byte and leaf.
  void verify(unsigned threads = 0) const;
  void verify(std::span<const std::size_t> leaves, unsigned threads = 0) const;

  /// errc::unsupported, naming file and codec, unless the codecs that decode these leaves are known.
  void require_codecs(std::span<const std::size_t> leaves) const;

  /// Reads whole leaves into memory: what is stored as it is in bulk, the rest through its codec. With `verify`, what does not match
  /// its checksum is found before anything is written. Errors: corrupt; mismatch for memory of another dtype or size.
  void read(std::span<const read_request> requests, const read_options& options = {}) const;

 private:
  /// Where a leaf's values begin and what is then applied to them.
  struct leaf_plan {
    std::vector<std::size_t> leaf;  // its index in each link, the newest first, down to the one that holds it whole
  };

  void open_ancestors(const any_store& store);
  void describe_contents();
  [[nodiscard]] leaf_plan plan_of(std::size_t leaf) const;
  void decode_leaf(const leaf_plan& plan, std::span<std::byte> values, unsigned threads) const;

  codec_rules rules_;
  std::vector<std::shared_ptr<const checkpoint_reader>> links_;
  code_tables tables_;
  catalog contents_;
};

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/chain/reader.ipp"  // IWYU pragma: keep
#endif
