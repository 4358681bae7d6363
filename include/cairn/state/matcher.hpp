// Answers a walk that loads a state: compares it with a checkpoint first, and gives it the checkpoint's structure in a
// second walk.
#pragma once

#include <cstdint>
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
#include "cairn/state/answers.hpp"

namespace cairn::detail {

/// A container that gets its size after its memory has been prepared: `resize(container, size)`.
struct growth {
  void* container;
  std::uint64_t size;
  void* (*resize)(void*, std::uint64_t);
  std::byte* memory;
  std::uint64_t bytes;
};

/// Each `path` is that of the object at hand, in the state. In the first walk the answers change nothing but private
/// copies; what does not fit is collected and thrown by `finish_check`.
class matcher {
 public:
  /// Both must outlive this object.
  matcher(const catalog& from, const match_options& options);
  ~matcher();

  /// Throws one errc::mismatch for all that does not fit; reports what the walk did not ask for.
  void finish_check();
  /// Between the two walks.
  void start_applying();

  [[nodiscard]] match_report& report() noexcept { return report_; }
  [[nodiscard]] const std::vector<target>& targets() const noexcept { return targets_; }
  [[nodiscard]] const std::vector<growth>& growths() const noexcept { return growths_; }
  [[nodiscard]] const std::string& origin() const noexcept { return from_.origin; }

  void add(std::string path, memory_view view);

  size_answer sequence(const std::string& path, std::uint64_t size, bool empty_elements);
  presence optional(const std::string& path, bool engaged);
  pointee_answer polymorphic(const std::string& path, bool engaged, std::string_view type);
  shared_answer shared(const std::string& path, const std::shared_ptr<void>& object, std::type_index pointee,
                       std::string_view type, bool listed);
  void shared_made(const std::string& path, std::shared_ptr<void> object, std::type_index pointee);
  alternative_answer alternative(const std::string& path, std::uint64_t index, std::uint64_t count);
  /// The stored keys of a map, each once; null when the map keeps its own.
  const std::vector<std::string>* keys(const std::string& path);
  /// The number of ranks that saved the object; 0 when there is none. `known` is the path below which all belongs to the
  /// ranks; empty: everything. Where there are not as many `ranks` now, the object may take the values of all.
  std::uint64_t ranks(const std::string& path, std::string_view known, std::uint64_t ranks, bool takes_all);

  /// Between these two calls leaves are only asked for their first dimension. Returns it, or nothing where there is none.
  void begin_probe() { probe_.emplace(); }
  [[nodiscard]] std::optional<std::uint64_t> end_probe() { return std::exchange(probe_, {}).value_or(std::nullopt); }

  /// The shape of the stored leaf; null where there is none.
  [[nodiscard]] const extents* shape(const std::string& path) const;

  /// See walker::resizes.
  [[nodiscard]] bool resizes(const std::string& path, std::uint64_t from, std::uint64_t to, std::size_t width);
  /// True where a container of `bytes` bytes is resized later, together with others; the caller then reports it with `grow_later`.
  [[nodiscard]] bool may_grow_later(std::uint64_t bytes) const noexcept;
  void grow_later(const growth& what) { growths_.push_back(what); }

  /// Between these two calls what is walked stands for an object that will be made.
  void begin_prototype() noexcept { ++prototypes_; }
  void end_prototype() noexcept { --prototypes_; }

  /// Between these two calls what is walked is a private copy, filled at once. The answer is `drop` unless all of it was
  /// in the checkpoint.
  void begin_copy();
  [[nodiscard]] copy_answer end_copy();

  /// True when the filter lets through the object or something in it.
  [[nodiscard]] bool wants(const std::string& path) const;
  /// The object is left out by the filter.
  void skip() noexcept { ++incomplete_; }

  void refuse(const std::string& path, const std::string& problem);

 private:
  using shared_object = std::pair<std::type_index, std::shared_ptr<void>>;

  /// The walk may change the object at hand.
  [[nodiscard]] bool is_writing() const noexcept { return applying_ || !copies_.empty(); }

  [[nodiscard]] std::string stored_path(std::string_view path) const;
  [[nodiscard]] bool accepts(std::string_view stored) const;

  /// The entry of that kind. Null when there is none: the object keeps its structure, which is reported as missing if
  /// Cairn wrote the checkpoint.
  const structure_entry* find(const std::string& path, structure_entry::kind kind);

  /// The leaf at the path, or the one that it is the same as.
  std::size_t find_leaf(const std::string& stored);

  /// Each of `size` objects stored one by one has an entry of the catalog, unless they are empty.
  void check_size(const std::string& path, std::uint64_t size, bool empty_elements) const;

  void miss(std::string path);
  void claim(std::string_view path);

  bool fits(const stored_leaf& stored, const std::string& path, const memory_view& view);

  /// A bool in memory must be 0 or 1, and a narrowed integer must fit: known before anything is changed.
  void check_values(std::size_t index, const memory_view& view) const;

  /// Two paths that are one buffer in the state must have one value in the checkpoint.
  void check_ties(std::size_t index, const memory_view& view);

  const catalog& from_;
  const match_options& options_;
  match_report report_;
  bool applying_ = false;            // the second walk: the check found no problem
  std::vector<std::size_t> copies_;  // per open copy: `incomplete_` at its begin
  unsigned prototypes_ = 0;          // open ones
  std::size_t incomplete_ = 0;       // objects that could not be filled
  std::optional<std::optional<std::uint64_t>> probe_;
  std::vector<target> targets_;
  std::vector<growth> growths_;
  std::vector<std::string> problems_;
  std::map<std::string, shared_object, std::less<>> objects_;  // stored path -> shared object
  std::unordered_set<const void*> filled_objects_;             // shared ones that a path has loaded
  std::vector<bool> used_;                                     // per stored leaf
  std::unordered_set<const structure_entry*> known_;
  std::uint64_t growing_ = 0;                            // bytes
  std::unordered_map<const void*, std::size_t> arrays_;  // memory -> stored leaf
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/matcher.ipp"  // IWYU pragma: keep
#endif
