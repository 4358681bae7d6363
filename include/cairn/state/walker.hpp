// SPDX-License-Identifier: MIT
// The interface between the walk functions of all types and the purposes of a walk: saving, checking, loading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/adapter.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/pointer_type.hpp"

namespace cairn::inline v0_1::detail {

struct stored_leaf;

/// Where a walk is.
struct walk_position {
  rank_info here;
  std::string path{};                   ///< of the current object; empty: it is the whole state
  std::vector<std::size_t> lengths{};   ///< of the path of each object that contains the current one
  extents shape{};                      ///< of the columns that the current object stands for
  std::vector<std::int64_t> strides{};  ///< of these, in bytes
  bool takes_sizes = false;             ///< in a load: also arrays of numbers that are not empty get the stored size
  std::size_t common_dimensions = 0;    ///< in a save: leading dimensions of `shape` that the previous leaf has, too
  std::uint64_t version = 0;            ///< in a load: of the object in the checkpoint, where its class has a version
  /// In a load: of the path of an object of an older version, which its class migrates.
  std::optional<std::size_t> migrated_length{};
  bool is_view = false;  ///< the memory of the current array belongs to something else
  /// Of the current array, if it is a box of a larger one; else null.
  std::shared_ptr<const box_place> place{};
  box_copies copies{};  ///< of that box
};

/// Thrown out of a user's function that asked for a value that the load cannot give it.
struct CAIRN_ONE_PER_PROCESS load_stopped : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "the checkpoint does not have the value"; }
};

/// What to do with an object that may be absent: the value of an optional, the object behind a pointer.
enum class presence {
  keep,      ///< nothing
  clear,     ///< make the holder empty
  walk,      ///< the object exists: walk it
  make,      ///< make a new object in the holder and walk that
  prototype  ///< the load will make the object later: walk a temporary one in its place
};

/// What to do with an object behind a pointer.
struct pointee_answer {
  presence what{};
  const type_id* type = nullptr;  ///< to walk, make, or use as prototype; null where there is no list of types
  bool destroys = false;          ///< the load takes the object that is there away from the pointer
};

/// What to do with an object that several pointers may share.
struct shared_answer {
  presence what{};
  const type_id* type = nullptr;  ///< as in `pointee_answer`, or the type of `same`
  std::shared_ptr<void> same{};   ///< not null: set the pointer to this object, which another path has loaded
  bool destroys = false;          ///< as in `pointee_answer`
};

/// What to do with a variant.
struct alternative_answer {
  presence what{};
  std::uint64_t index = 0;  ///< of the alternative to walk, make, or use as prototype
};

/// The size that a container has from now on, or will have after the load.
struct size_answer {
  std::uint64_t size = 0;
  bool resize = false;  ///< resize it to `size` now
};

/// What to do with a copy after its walk.
enum class copy_answer {
  drop,   ///< nothing: the save owns it, or the checkpoint does not have all of it
  check,  ///< first walk of a load: test that the object can take the value, and change nothing
  put     ///< give the object the value of the copy: second walk of a load, or an object in another private copy
};

/// Each type has one walk function, for all purposes. It passes the parts of an object to the walker and acts on the
/// answers, which are about the current object. The purposes are derived classes: `describer` saves; `loader` compares
/// with a checkpoint and changes nothing, in its first walk, and changes the object, in its second one. The answers of
/// this class walk all that an object has.
class walker {
 public:
  walker(const walker&) = delete;
  walker& operator=(const walker&) = delete;
  virtual ~walker() = default;

  /// The path of the current object; "value" for a state that is a single leaf.
  [[nodiscard]] std::string_view path() const noexcept {
    return at_.path.empty() ? std::string_view("value") : at_.path;
  }

  [[nodiscard]] rank_info here() const noexcept { return at_.here; }

  /// Why the walk is made; `apply` also in the private copies of a load, which are filled at once.
  [[nodiscard]] virtual cairn::purpose purpose() const noexcept { return purpose::describe; }

  /// Walks a part of the current object unless the filter excludes it. errc::invalid: too deep.
  void part(std::string_view name, void* object, walk_function walk);
  void part(std::uint64_t index, void* object, walk_function walk);
  void members(const object_members& of);
  /// The same for a class that has changed since older checkpoints.
  virtual void changed_members(const object_members& of, std::span<const change> /*changes*/) { members(of); }
  /// An object of a class that has a version; in columns, the one in the first row.
  virtual void versioned(void* object, const version_operations& how) { how.walk_parts(*this, object); }
  /// A part in packed columns, `width` bytes per row.
  void packed_rows(std::string_view name, void* first, std::size_t width, walk_function walk);
  void prototype_part(std::string_view name, const object_operations& how);

  /// Walks the content of the current object, a holder. Its path is that of the holder, or `<path>.value` if the
  /// content has an entry itself (walk_object.hpp). Null: the load will make it.
  virtual void content(void* object, const content_operations& how);

  /// An element of `type` at `memory`; in columns, the one in the first row.
  void element(dtype type, void* memory) { array(type, 1, memory, {}); }

  /// The same for an enum whose values have names.
  virtual void enumerated(dtype type, void* memory, std::span<const enum_entry> /*names*/) { element(type, memory); }

  /// A packed array of `shape` at `memory`. Each of its elements consists of `components` numbers.
  void array(dtype type, unsigned components, void* memory, const extents& shape) {
    array(type, components, memory, shape, {});
  }
  /// The same with strides in elements. Empty `strides`: packed. `device`: how to copy it if it is not on the host.
  void array(dtype type, unsigned components, void* memory, const extents& shape,
             const std::vector<std::int64_t>& strides, const device_copies* device = nullptr);
  /// The same for a box of a larger array. errc::invalid: it is not inside.
  void box_of_array(const any_tensor_view& view);
  /// Calls `action`, which passes an array whose memory does not belong to the current object.
  template <class Action>
  void as_view(const Action& action) {
    at_.is_view = true;
    action();
    at_.is_view = false;
  }

  /// `rows` objects of one fixed layout, `width` bytes apart. Only the first is walked; its leaves stand for all rows.
  void columns(std::uint64_t rows, std::size_t width, void* first, walk_function walk);

  /// Walks a container of `size` elements, the first at `first`, as columns. `limits`: of `how.resize`.
  virtual void contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                          const size_limits& limits);

  /// A sequence of `size` objects. True: the walker has walked them, joined (joined.hpp). False: each has its own path.
  [[nodiscard]] virtual bool joined(void* /*sequence*/, std::uint64_t /*size*/, const size_limits& /*limits*/,
                                    const sequence_operations& /*how*/) {
    return false;
  }

  /// A sequence of `size` objects, each with its own path. `empty_elements`: their type is empty, so they add no leaf.
  [[nodiscard]] virtual size_answer sequence(std::uint64_t size, const size_limits& /*limits*/,
                                             bool /*empty_elements*/) {
    return {size};
  }

  /// Walks an element of the current sequence. Null: the load will make it.
  virtual void sequence_part(std::uint64_t index, void* object, const object_operations& how);

  /// An array of `size` objects, each with its own path. False: do not walk them.
  [[nodiscard]] virtual bool fixed_array(std::uint64_t /*size*/) { return true; }

  /// An object that may be absent.
  [[nodiscard]] virtual presence optional(bool engaged) { return engaged ? presence::walk : presence::keep; }

  /// An object behind a pointer that owns it alone.
  [[nodiscard]] virtual pointee_answer pointee(const found_object& found) {
    return {found.address ? presence::walk : presence::keep, found.type};
  }

  /// An object that several pointers may share. `object`: the whole object, null if there is none. Where a save walks
  /// it, call `shared_end` after the walk.
  [[nodiscard]] virtual shared_answer shared(const found_object& found, const std::shared_ptr<void>& object) = 0;
  virtual void shared_end() {}

  /// After the walk of a container that is a heap: a load arranges it when its elements are there.
  virtual void heap(void* /*object*/, const heap_operations& /*how*/) {}

  /// A variant that holds alternative `index` of `count`.
  [[nodiscard]] virtual alternative_answer alternative(std::uint64_t index, std::uint64_t /*count*/) {
    return {presence::walk, index};
  }

  virtual void map(void* object, const map_operations& how);
  virtual void entries(void* map, const entries_operations& how);

  /// The number of ranks that saved the current per-rank object; 0: keep it. With `takes_all`, another number of ranks
  /// than now is no error.
  [[nodiscard]] virtual std::uint64_t saved_ranks(bool /*takes_all*/) { return at_.here.ranks; }

  virtual void copy(void* object, const copy_operations& how) = 0;

  /// Until `end_copy` the walk is in a private copy of the current object, which a load fills at once.
  virtual void begin_copy() {}
  [[nodiscard]] virtual copy_answer end_copy() { return copy_answer::drop; }

  /// Between these two calls a save is in objects that exist only for the moment: the bytes of their leaves are copied.
  virtual void begin_temporary() {}
  virtual void end_temporary() {}

  /// The stored array whose shape the current object is to get, which has that shape now; null in a save, if the
  /// checkpoint has none, and if it keeps its shape.
  [[nodiscard]] virtual const stored_leaf* stored(const extents& /*now*/) { return nullptr; }
  /// See adapter_field.
  [[nodiscard]] virtual bool has_stored(std::string_view /*name*/) { return false; }
  void require_check(std::string_view name) const;

  /// In a load: records that the current object cannot be loaded: "<path> <problem>".
  virtual void reject(const std::string& /*problem*/) {}
  /// In a load: why the current array keeps another shape than the stored one: "; " and this follow in the message.
  virtual void note_refusal(std::string_view /*why*/) {}

  /// In a load: records that the current object changes its size from `from` to `to` elements of `width` bytes. Returns
  /// true if it has to be resized now (second walk). errc::no_memory: more than the machine's memory.
  [[nodiscard]] virtual bool note_resize(std::uint64_t /*from*/, std::uint64_t /*to*/, std::size_t /*width*/) {
    return false;
  }
  /// Before the walk of an object that owns others. `type` is the same for all objects of its type, and for no others.
  /// `content`: where the object that a pointer owns is; an adapter may pass a copy of the pointer, which is gone
  /// before the next one is made at the same address.
  virtual void note_owner(const void* /*object*/, const void* /*type*/, const void* /*content*/ = nullptr) {}
  /// In a load: records that it frees or moves `bytes` bytes at `memory`, elements of the owner that was noted last,
  /// which is the current object.
  virtual void note_freed(const void* /*memory*/, std::uint64_t /*bytes*/) {}
  /// In a load: records that it destroys that object of the owner.
  virtual void note_destroyed(void* /*object*/, walk_function /*walk*/) {}
  /// In a load: records that it takes the owner's pointer, at `pointer`, away from an object that others may share.
  virtual void note_dropped(const std::shared_ptr<void>& /*object*/, const void* /*pointer*/, walk_function /*walk*/) {}
  /// Whether the functions of another serialization library are run on objects of the state.
  [[nodiscard]] virtual bool runs_archive_functions() const noexcept { return true; }

  /// In a load: walks a temporary object in place of one that the load will make. Rejects the current object if the
  /// load cannot make one.
  void prototype(const object_operations& how);
  /// The same with an object that exists, and that `destroy` destroys.
  virtual void walk_temporary(void* object, walk_function walk, void (*destroy)(void*));

  /// Passes the object that was made for the answer `make` of `shared`. Call it before the object is walked.
  virtual void shared_made(std::shared_ptr<void> /*object*/, const type_id& /*type*/) {}

  /// The number of objects that the load could not fill until now.
  [[nodiscard]] virtual std::size_t left_out() const noexcept { return 0; }
  /// A const object was replaced: records a problem if a part of it was left out since `left_out` returned that number.
  virtual void require_whole(std::size_t /*left_out_before*/) {}

  /// The current object cannot be loaded whole, so it keeps its value. errc::mismatch: the second walk finds that, and
  /// the first one did not.
  virtual void keep_whole() {}
  /// True after `keep_whole`. Whatever contains the object keeps its value, too.
  [[nodiscard]] virtual bool must_keep() { return false; }
  /// The bytes of all leaves of the checkpoint.
  [[nodiscard]] virtual std::uint64_t stored_bytes() { return 0; }

 protected:
  /// `at` must outlive the walker. Walkers that share it are at the same place.
  explicit walker(walk_position& at) noexcept : at_(at) {}

  /// An array. `device`: how to copy it if it is not on the host.
  virtual void add(memory_view view, const device_copies* device) = 0;
  /// A part of another object, before its own parts.
  virtual void visit(const void* /*object*/) {}
  /// Whether the filter selects the current object, or a part of it.
  [[nodiscard]] virtual bool is_selected() { return true; }

  /// Before the content of the current object is walked as a part.
  virtual void enter_content() {}

  /// Makes a part of the current object the current one, without a walk.
  void enter(std::string_view name);
  void leave();
  /// Calls `action` with a part as the current object, without a walk.
  template <class Action>
  decltype(auto) with_name(std::string_view name, const Action& action) {
    struct at_part {
      walker& w;
      ~at_part() { w.leave(); }
    };
    enter(name);
    const at_part now{*this};
    return action();
  }
  /// Gives the view the strides of the columns and of the current array, unless it is packed.
  void set_strides(memory_view& view, unsigned components, const std::vector<std::int64_t>& strides) const;
  void entry_part(std::uint64_t index, std::string_view name, void* object, walk_function walk);

  walk_position& at_;

 private:
  /// The path of the whole state is printed as "value", so its content is "value.value".
  [[nodiscard]] std::string_view content_name() const noexcept { return at_.path.empty() ? "value.value" : "value"; }
};

/// Calls a function of an adapter. An error that it throws gets the path; the walk adds it to other exceptions.
template <class Call>
auto call_adapter(const walker& w, const Call& call) {
  try {
    return call();
  } catch (const error& cause) {
    fail(cause.code(), {w.path(), ": ", cause.sentence()});
  }
}

}  // namespace cairn::inline v0_1::detail
