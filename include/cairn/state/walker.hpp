// Where in the state a walk is, and the questions that it asks: what becomes of the object at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <variant>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/answers.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/rank_info.hpp"

namespace cairn::detail {

class describer;
class matcher;

/// One type is walked by one function for all purposes: it shows the walker what the object has and does what the walker
/// answers. Answers come from a `describer`, which changes nothing, or from a `matcher`, which compares with a checkpoint
/// first and changes the object in a second walk.
class walker {
 public:
  walker(describer& purpose, rank_info here) : purpose_(&purpose), here_(here) {}
  walker(matcher& purpose, rank_info here) : purpose_(&purpose), here_(here) {}

  /// The path of the object at hand; "value" for a state that is a single leaf.
  [[nodiscard]] std::string path() const;

  [[nodiscard]] rank_info here() const noexcept { return here_; }

  /// Walks a part of the object at hand unless a filter leaves it out. errc::invalid: too deep.
  void part(std::string_view name, void* object, walk_function walk);
  void part(std::uint64_t index, void* object, walk_function walk);
  void parts(std::span<const named_part> all);
  void prototype_part(std::uint64_t index, void (*walk_prototype)(walker&));

  /// Walks a temporary object in the place of one that the load makes, and destroys it.
  void prototype(void* object, walk_function walk, void (*destroy)(void*));

  /// An element of `type` at `memory`; of columns, the first of many.
  void element(dtype type, void* memory);

  /// An array of `shape` at `memory`, packed. Each of its elements is `components` numbers.
  void array(dtype type, unsigned components, void* memory, const extents& shape) {
    array(type, components, memory, shape, {});
  }
  /// The same, `strides` elements apart; packed when `strides` is empty.
  void array(dtype type, unsigned components, void* memory, const extents& shape,
             const std::vector<std::int64_t>& strides);

  /// `rows` objects of one fixed layout, `width` bytes apart: the first is walked on behalf of all.
  void columns(std::uint64_t rows, std::size_t width, void* first, walk_function walk);

  /// Walks a container as columns. It has `size` elements from `first` on.
  void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how);

  /// A sequence of `size` objects with paths of their own.
  [[nodiscard]] size_answer sequence(std::uint64_t size, bool empty_elements);

  /// True where a tensor of `shape` has another shape of as many dimensions in the checkpoint, which is then `wanted`.
  [[nodiscard]] bool has_other_shape(const extents& shape, unsigned components, extents& wanted);
  /// Notes that the object at hand gets another size or shape, `to` elements, and tells whether to do that now. errc::io:
  /// more than the machine's memory.
  [[nodiscard]] bool resizes(std::uint64_t from, std::uint64_t to, std::size_t width);

  /// An object that may be absent.
  [[nodiscard]] presence optional(bool engaged);

  /// An object of a closed list of types behind a pointer to `base`; `type` is empty for one that is not listed.
  [[nodiscard]] pointee_answer polymorphic(bool engaged, std::string_view type, std::string_view base);

  /// An object that may be shared. `base` is empty where there is no list of types.
  [[nodiscard]] shared_answer shared(std::shared_ptr<void> object, const std::type_info& pointee, std::string_view type,
                                     std::string_view base);
  /// The shared object that was made for the answer `make`; before it is walked.
  void shared_made(std::shared_ptr<void> object, const std::type_info& pointee);

  /// A variant that holds alternative `index` of `count`.
  [[nodiscard]] alternative_answer alternative(std::uint64_t index, std::uint64_t count);

  void map(void* object, const map_operations& how);

  void copy(void* object, const copy_operations& how);

  /// Between these two calls a private copy is walked. Described, it is kept as long as the description; else it is
  /// filled at once.
  void begin_copy(std::shared_ptr<const void> object);
  [[nodiscard]] copy_answer end_copy();

  /// The number of ranks that saved the per-rank object at hand; 0: keep it. An object that `takes_all` can be made from
  /// the values of another number of ranks.
  [[nodiscard]] std::uint64_t saved_ranks(bool takes_all);

  /// Notes that the object at hand cannot be loaded: "<path> <problem>".
  void refuse(const std::string& problem);

 private:
  template <class Question>
  decltype(auto) ask(const Question& question);

  void enter(std::string_view name);
  void leave();
  [[nodiscard]] bool is_filtered();
  [[nodiscard]] matcher& load() { return *std::get<matcher*>(purpose_); }

  std::variant<describer*, matcher*> purpose_;
  rank_info here_;
  std::string path_;
  std::vector<std::size_t> lengths_;  // of the path of each object that the one at hand is in
  extents shape_;                     // of the columns that the object at hand stands for
  std::vector<std::int64_t> strides_;
  std::vector<std::shared_ptr<const void>> outer_copies_;
};

}  // namespace cairn::detail

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/walker.ipp"  // IWYU pragma: keep
#endif
