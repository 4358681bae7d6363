// Brings a state and a checkpoint together: what fits goes on the list of targets, what does not on a list of
// problems.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/state/base.hpp"

namespace cairn::detail {

/// Fetches a stored leaf into `to`, converting and scattering as needed.
CAIRN_INLINE void fetch_leaf(const catalog& from, std::size_t index, const memory_view& to);

struct matching {
  /// While active, leaves are only asked for their first dimension.
  struct row_probe {
    bool active = false;
    std::optional<std::uint64_t> rows;
  };
  /// A growth that waits until its memory has been prepared: `resize(container, size)`.
  struct growth {
    void* container;
    std::uint64_t size;
    void (*resize)(void*, std::uint64_t);
    std::byte* memory;
    std::uint64_t bytes;
  };

  const catalog& from;
  const match_options& options;
  match_report report;

  bool applying = false;       // the state is being changed; the check came before and found no problem
  unsigned immediate = 0;      // > 0: what is walked is a private copy, filled at once
  unsigned prototypes = 0;     // > 0: what is walked stands for an object that will be made
  std::size_t incomplete = 0;  // counts what could not be filled
  row_probe probe;
  std::vector<target> targets;
  std::vector<growth> growths;
  std::vector<std::string> problems;
  std::map<std::string, std::pair<std::type_index, std::shared_ptr<void>>, std::less<>>
      objects;  // shared, by stored path
  std::unordered_set<const void*> filled_objects;

  matching(const catalog& source, const match_options& how);
  ~matching();

  [[nodiscard]] std::string stored_path(std::string_view path) const;

  void add(std::string path, memory_view view);

  [[nodiscard]] const fact* find_fact(const std::string& path, fact::kind kind);

  /// A size that the checkpoint claims for objects stored one by one; each owns at least one entry of the
  /// catalog.
  [[nodiscard]] std::uint64_t checked_size(const std::string& path, std::uint64_t size, bool empty_elements);

  void miss(std::string path);

  void resized(const std::string& path);

  /// Told by the check of every container that will hold `count` elements of `width` bytes instead of fewer.
  /// errc::io, before anything is allocated, when all of them together need more memory than the machine has.
  void grows(const std::string& path, std::uint64_t count, std::size_t width);

  [[nodiscard]] bool accepts(std::string_view stored) const;

  /// The shape of the stored leaf for `path`; nothing where there is none.
  [[nodiscard]] const extents* stored_shape(const std::string& path) const;

  /// True when the filter lets through the object at `path` or something in it.
  [[nodiscard]] bool wants(const std::string& path) const;

  /// Takes everything below `path` as known, though nothing of it is loaded: it belongs to another rank.
  void claim(const std::string& path);

  /// Lists what the walk did not ask for, and throws one error for all that does not fit.
  void finish_check();

 private:
  [[nodiscard]] bool wants_fact(const std::string& path) const;

  /// The leaf at the path, or the one that it is the same as.
  [[nodiscard]] std::size_t find_leaf(const std::string& stored);

  [[nodiscard]] bool fits(const stored_leaf& stored, const std::string& path, const memory_view& view);

  /// A bool in memory must be 0 or 1, and a narrowed integer must fit: known before anything is changed.
  void check_values(std::size_t index, const memory_view& view);

  /// Two paths that are one buffer in the state must have one value in the checkpoint.
  void check_ties(std::size_t index, const memory_view& view);

  std::vector<bool> used_;
  std::uint64_t growing_ = 0;  // bytes
  std::unordered_set<const fact*> known_facts_;
  std::unordered_map<const void*, std::size_t> arrays_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/matching.ipp"  // IWYU pragma: keep
#endif
