// Reads a checkpoint and its ancestors, and decodes every leaf.
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

namespace cairn::detail {

/// A published checkpoint, open for loading. A delta is opened with its ancestors up to the first that needs no parent. Thread-safe
/// after construction.
class chain_reader {
 public:
  /// Opens checkpoint `name`. Errors: not_found; corrupt, also where an ancestor is missing or has been replaced by another
  /// checkpoint; unsupported; io.
  chain_reader(const any_store& store, std::string_view name, codec_rules rules = {});

  /// Opens a single safetensors file, which Cairn need not have written. errc::unsupported for a file of a delta.
  chain_reader(std::unique_ptr<stores::source> file, std::string origin, codec_rules rules = {});

  chain_reader(const chain_reader&) = delete;  // `contents` refers to it
  chain_reader& operator=(const chain_reader&) = delete;
  ~chain_reader() = default;

  [[nodiscard]] const catalog& contents() const noexcept { return contents_; }
  [[nodiscard]] std::uint64_t step() const noexcept { return newest().step(); }
  [[nodiscard]] const std::map<std::string, double>& metrics() const noexcept { return newest().metrics(); }

  /// The checkpoint, its parent, and so on to the first one that needs no parent.
  [[nodiscard]] std::span<const std::shared_ptr<const checkpoint_reader>> links() const noexcept { return links_; }
  [[nodiscard]] const checkpoint_reader& newest() const noexcept { return *links_.front(); }
  [[nodiscard]] const code_tables& tables() const noexcept { return tables_; }
  [[nodiscard]] std::span<const codec_rule> rules() const noexcept { return rules_; }

  /// Checks the checksums of all leaves, or of the given ones, in all links. errc::corrupt names file, byte and leaf.
  void verify(unsigned threads = 0) const;
  void verify(std::span<const std::size_t> leaves, unsigned threads = 0) const;

  /// Checks that the codecs of these leaves are known. errc::unsupported names file and codec.
  void require_codecs(std::span<const std::size_t> leaves) const;

  /// Reads whole leaves into memory: those stored as they are together, the others decoded. Errors: mismatch for memory of another dtype or size;
  /// corrupt, after which the memory may have changed, unless all of it had been verified.
  void read(std::span<const read_request> requests, const read_options& options = {}) const;

  /// Reads the elements of one leaf from `first` on into `out`. Takes no other memory where all links cut the leaf there.
  void read(std::size_t leaf, std::uint64_t first, std::span<std::byte> out, const read_options& options = {}) const;

 private:
  /// The index of a leaf in each link that decodes it: the newest first, to the first one that holds it whole.
  using leaf_plan = std::vector<std::size_t>;

  void open_ancestors(const any_store& store);
  void describe_contents();
  [[nodiscard]] leaf_plan plan_of(std::size_t leaf) const;
  /// Consecutive elements of a leaf: [first, last).
  struct range {
    std::uint64_t first, last;
    friend bool operator==(const range&, const range&) = default;
  };
  [[nodiscard]] range whole_slices(const leaf_plan& plan, range wanted) const;
  void decode(const leaf_plan& plan, std::uint64_t first, std::span<std::byte> values,
              const read_options& options) const;

  codec_rules rules_;
  std::vector<std::shared_ptr<const checkpoint_reader>> links_;
  code_tables tables_;
  catalog contents_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/chain/reader.ipp"  // IWYU pragma: keep
#endif
