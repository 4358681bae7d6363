// SPDX-License-Identifier: MIT
// Refuses a state that cannot be saved or loaded: a search of the types that it consists of, at compile time, finds the
// first such part, and one static_assert names it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cairn/state/category.hpp"
#include "cairn/state/copies.hpp"
#include "cairn/state/words.hpp"
#include "cairn/state/member_name.hpp"
#include "cairn/state/operations.hpp"
#include "cairn/state/parts.hpp"
#include "cairn/state/pointer_type.hpp"
#include "cairn/state/problem.hpp"
#include "cairn/state/tensor_view.hpp"
#include "cairn/state/walk_object.hpp"

namespace cairn::inline v0_1::detail {

struct type_node;

struct type_part {
  std::string_view name;
  type_node (*node)() = nullptr;
  problem own = problem::none;  ///< const_part, or no_object if volatile
  std::size_t bucket = 0;       ///< some number that depends on the type
  bool is_number = false;
};

/// What a search needs to know about a type. It calls functions that give nodes, so that a type can contain itself.
struct type_node {
  problem own = problem::none;
  std::string_view type_name;        ///< only where there is a problem, or the search needs it
  std::string_view member;           ///< its member with the problem; empty: the type has it as a whole
  std::span<const type_part> parts;  ///< a problem of one of them comes before `own`
};

template <class T>
constexpr type_node node_of();

template <int>
constexpr void compared_function() {}

/// Whether the compiler compares the addresses of functions at compile time. g++ 12 does not with -fsanitize=undefined.
inline constexpr bool compares_functions = __builtin_constant_p(static_cast<void (*)()>(compared_function<0>) ==
                                                                static_cast<void (*)()>(compared_function<1>));

template <class T>
using plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T>
inline constexpr problem problem_of_part =
    std::is_volatile_v<std::remove_reference_t<T>>                                         ? problem::no_object
    : std::is_const_v<std::remove_reference_t<T>> || std::is_same_v<plain<T>, const_state> ? problem::const_part
                                                                                           : problem::none;

// An expression, not a function: clang must evaluate it for a type that contains itself, before functions are complete.
#define CAIRN_PART(name, ...)                                                                             \
  type_part {                                                                                             \
    name, node_of<plain<__VA_ARGS__>>, problem_of_part<__VA_ARGS__>, sizeof(plain<__VA_ARGS__>) / 8 % 32, \
        scalar_type<plain<__VA_ARGS__>> && !names_its_values<plain<__VA_ARGS__>>                          \
  }

/// The types of the parts of T, with the names that a message gives them.
template <class T>
constexpr auto find_parts() {
  constexpr auto kind = category_of<T>();
  if constexpr (has_parts<T>) {
    return []<class... Types, std::size_t... I>(type_list<Types...>, std::index_sequence<I...>) {
      return std::array<type_part, sizeof...(I)>{CAIRN_PART((parts_of<T>::names[I]), Types)...};
    }(typename parts_of<T>::types{}, std::make_index_sequence<parts_of<T>::count>{});
  } else if constexpr (kind == category::fixed_array) {
    return std::array{CAIRN_PART("*", decltype(std::declval<T&>()[0]))};
  } else if constexpr (kind == category::variant) {
    return []<class... Types>(type_list<Types...>) {
      return std::array<type_part, sizeof...(Types)>{CAIRN_PART("", Types)...};
    }(alternatives_of<T>{});
  } else if constexpr (kind == category::tensor) {
    return std::array{CAIRN_PART("", decltype(*detail::data_of(std::declval<T&>())))};
  } else if constexpr (has_tensor_view_adapter<T>) {
    return std::array{CAIRN_PART("", typename view_of_adapter<T>::value_type)};
  } else if constexpr (kind == category::span) {
    return std::array{CAIRN_PART("*", typename T::element_type)};
  } else if constexpr (kind == category::sequence || kind == category::set || kind == category::valarray) {
    return std::array{CAIRN_PART("*", typename T::value_type)};
  } else if constexpr (kind == category::map) {
    return std::array{CAIRN_PART("(key)", typename T::key_type), CAIRN_PART("*", typename T::mapped_type)};
  } else if constexpr (kind == category::container_adaptor) {
    return std::array{CAIRN_PART("", typename T::container_type)};
  } else if constexpr (kind == category::optional) {
    return std::array{CAIRN_PART("", std::remove_reference_t<decltype(*std::declval<T&>())>)};
  } else if constexpr (kind == category::unique_pointer || kind == category::shared_pointer ||
                       kind == category::weak_pointer) {
    using object = std::remove_cv_t<typename T::element_type>;
    if constexpr (has_type_list<object>)
      return []<class... Listed>(const one_of<Listed...>*) {
        return std::array<type_part, sizeof...(Listed)>{CAIRN_PART("", typename listing<Listed>::type)...};
      }(type_list_of<object>);
    else
      return std::array{CAIRN_PART("", object)};
  } else if constexpr (has_copy_adapter<T> || kind == category::atomic) {
    return std::array{CAIRN_PART("", copy_type<T>)};
  } else if constexpr (is_per_rank<T>) {
    return std::array{CAIRN_PART("", decltype(T::value))};
  } else {
    return std::array<type_part, 0>{};
  }
}

template <class T>
inline constexpr auto searched_parts = find_parts<T>();

/// Whether a T has the problem because of its elements, keys or content. If these have a problem of their own, that is
/// the cause, and is reported instead. The elements of a tensor may be of an incomplete type.
template <class T>
consteval bool is_of_content(problem what) {
  constexpr auto kind = category_of<T>();
  return what == problem::const_content || what == problem::no_default_constructor || what == problem::keys ||
         (what == problem::element_type && kind != category::tensor && kind != category::adapted);
}

template <class T>
constexpr type_node node_of() {
  constexpr problem own = problem_of<T>();
  if constexpr (own == problem::none && compares_functions)
    return {own, {}, {}, searched_parts<T>};
  else if constexpr (own == problem::none || is_of_content<T>(own))
    return {own, type_name_view<T>(), {}, searched_parts<T>};
  else if constexpr (own == problem::path)
    return {own, type_name_view<T>(), name_of_two<T>(), {}};
  else
    return {own, type_name_view<T>(), {}, {}};
}

template <class T>
constexpr type_part part_as(std::string_view name) {
  return CAIRN_PART(name, T);
}

#undef CAIRN_PART

/// The path of a part and its type: "layers.*.weights: float*".
struct part_text {
  std::array<char, 240> chars{};
  std::size_t size = 0;

  /// A character that is not ASCII becomes a '?': compilers print numbers for it, and clang for the whole text.
  constexpr void add(std::string_view text) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (size < chars.size() && (byte & 0xC0) != 0x80) chars[size++] = byte < 0x80 ? c : '?';
    }
  }
  [[nodiscard]] constexpr std::string_view view() const { return {chars.data(), size}; }
};

// Of a text of more than 36 characters clang prints only the first 34.
#if defined(__clang__)
inline constexpr std::size_t most_printed = 36;
#else
inline constexpr std::size_t most_printed = sizeof(part_text::chars);
#endif

/// The beginning of a text that a compiler prints: all of it, or what is before one of its words, or in a long word.
constexpr std::string_view first_piece(std::string_view text) noexcept {
  if (text.size() <= most_printed) return text;
  for (std::size_t end = most_printed; end > 0; --end)
    if (!is_identifier_char(text[end - 1]) && is_identifier_char(text[end])) return text.substr(0, end);
  return text.substr(0, most_printed);
}

template <class First, class Rest>
struct text_pieces {
  First first;
  Rest rest;
};

/// A text as an argument of a template, of which compilers print all pieces. Each ends in a 0: they print numbers for
/// one that does not.
template <const part_text& Text, std::size_t From = 0>
consteval auto in_pieces() {
  constexpr auto piece = first_piece(Text.view().substr(From));
  constexpr short_name<piece.size() + 1> first(piece);
  if constexpr (From + piece.size() == Text.size) {
    return first;
  } else {
    constexpr auto rest = in_pieces<Text, From + piece.size()>();
    return text_pieces<short_name<piece.size() + 1>, std::remove_const_t<decltype(rest)>>{first, rest};
  }
}

/// The first part that cannot be saved, and the first one that is const.
struct refusal {
  problem what = problem::none;
  part_text where;
  bool has_const = false;
  part_text where_const;
};

/// Visits all types that a state consists of, each once.
class type_search {
 public:
  constexpr type_search() = default;
  type_search(const type_search&) = delete;
  type_search& operator=(const type_search&) = delete;
  constexpr ~type_search() {
    for (seen_type*& newest : newest_)
      while (newest) delete std::exchange(newest, newest->before);
  }

  constexpr refusal search(const type_part& root) {
    visit({{}, nullptr}, root);
    return found_;
  }

 private:
  struct seen_type {
    type_node (*node)();
    seen_type* before;  // in the same bucket
  };
  struct path {
    std::string_view name;
    const path* above;
  };

  constexpr void visit(const path& at, const type_part& part) {
    if (part.own == problem::no_object) return report(part.own, at, {});
    if (part.own == problem::const_part && !found_.has_const) {
      found_.has_const = true;
      write(found_.where_const, at);
    }
    if (part.is_number) return;
    seen_type*& newest = newest_[part.bucket];
    for (const seen_type* seen = newest; seen; seen = seen->before)
      if (is_same_type(seen->node, part.node)) return;
    newest = new seen_type{part.node, newest};
    const type_node node = part.node();
    for (const auto& each : node.parts) {
      visit({each.name, &at}, each);
      if (found_.what != problem::none) return;
    }
    if (node.own != problem::none) report(node.own, at, node);
  }

  static constexpr bool is_same_type(type_node (*a)(), type_node (*b)()) {
    if constexpr (compares_functions)
      return a == b;
    else
      return a().type_name == b().type_name;
  }

  constexpr void report(problem what, const path& at, const type_node& node) {
    found_.what = what;
    write(found_.where, at);
    if (found_.where.size > 0 && !node.type_name.empty()) found_.where.add(": ");
    if (!node.member.empty()) {
      found_.where.add("member ");
      found_.where.add(node.member);
      found_.where.add(" of ");
    }
    found_.where.add(node.type_name);
  }

  static constexpr void write(part_text& text, const path& at) {
    if (at.above) write(text, *at.above);
    if (text.size > 0 && !at.name.empty()) text.add(".");
    text.add(at.name);
  }

  refusal found_;
  std::array<seen_type*, 32> newest_{};
};

template <class State>
consteval refusal find_refusal() {
  constexpr auto kind = category_of<State>();
  refusal found = type_search().search(part_as<State>(""));
  if constexpr (kind == category::record || kind == category::listed) {
    if (found.what == problem::none)
      for (const std::string_view name : part_names<State>())
        if (name == "__metadata__") {  // which the format of files keeps for itself
          found.what = problem::path;
          found.where.add("member __metadata__ of ");
          found.where.add(type_name_view<State>());
        }
  }
  return found;
}

template <class State>
inline constexpr refusal refusal_of = find_refusal<State>();

/// What is wrong with the state.
template <class State, bool Loads>
inline constexpr problem problem_in =
    refusal_of<State>.what == problem::none && Loads && refusal_of<State>.has_const ? problem::const_part
                                                                                    : refusal_of<State>.what;

/// The text that names the part.
template <class State>
inline constexpr part_text part_in =
    refusal_of<State>.what == problem::none ? refusal_of<State>.where_const : refusal_of<State>.where;

template <problem One, problem Other>
inline constexpr bool is_not = One != Other;

/// The walk function of a state whose parts can all be saved, and also loaded if `Loads`. For others one of these
/// assertions fails; the last two arguments are there for its message.
template <class State, bool Loads, problem Problem = problem_in<State, Loads>, auto Part = in_pieces<part_in<State>>()>
consteval walk_function checked_walk() {
  static_assert(
      is_not<Problem, problem::unknown_type>,
      "cairn: this type cannot be saved as it is: make it an aggregate, or give it a public line `static auto "
      "cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, or specialise cairn::adapter<T>, or use another "
      "type, such as std::string for a string_view. If it is not state (a mutex, a thread, a function, a cache): "
      "cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::raw_pointer>,
      "cairn: a raw pointer does not say how much it points to, nor who owns it: use std::vector, unique_ptr, "
      "shared_ptr, span or cairn::tensor_view, or specialise cairn::adapter for its class. If it is not state: "
      "cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::function_pointer>,
      "cairn: a pointer to a function cannot be saved: save which function it is, for example by an enum or a name, "
      "and set the pointer after the load. To leave it out: cairn::skip<T>, or list the other members");
  static_assert(
      is_not<Problem, problem::pointee>,
      "cairn: a pointer to an array, to void, to an incomplete type or to volatile cannot be saved: use std::vector, "
      "a pointer to a std::array or to the type, or std::variant; include the definition, or specialise "
      "cairn::adapter for the class that has the pointer; drop the volatile");
  static_assert(
      is_not<Problem, problem::polymorphic_without_list>,
      "cairn: a pointer to a polymorphic class needs the closed list of types that it may point to: `template <> "
      "struct cairn::polymorphic<Base> : cairn::one_of<A, B> {};`");
  static_assert(
      is_not<Problem, problem::polymorphic_list>,
      "cairn: cairn::polymorphic<Base> lists classes with their definitions, each once and none of them abstract, "
      "that are derived from Base publicly and once. Each has a name of its own, namespaces apart, or is given one "
      "that "
      "is not empty, `cairn::named<\"name\", class>`, as is each class that a template makes");
  static_assert(
      is_not<Problem, problem::list_without_rtti>,
      "cairn: a pointer to a polymorphic class needs RTTI, which tells the class of the object: compile without "
      "-fno-rtti, make the class final, or use std::variant");
  static_assert(
      is_not<Problem, problem::virtual_destructor>,
      "cairn: give the base class a virtual destructor: without virtual functions it does not tell the type of an "
      "object, and a unique_ptr deletes objects of derived classes through it");
  static_assert(is_not<Problem, problem::union_member>,
                "cairn: a union does not say which member is alive: use std::variant, or list the other members with "
                "cairn_fields");
  static_assert(
      is_not<Problem, problem::no_object>,
      "cairn: a load cannot write into a bit-field or a packed or volatile member; and C++ does not tell the members "
      "of an aggregate with a C array of more than 16 objects without a default constructor, or, before other members, "
      "one of the type of an empty base class: use a member of a whole type, a std::atomic or a std::array, or list "
      "the other members with cairn_fields");
  static_assert(
      is_not<Problem, problem::unknown_fields>,
      "cairn: C++ does not tell all fields of this aggregate, as it has a base class with members or one that only it "
      "can make (enable_shared_from_this), a reference, or more than 100 fields: list them with a public line `static "
      "auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, and all fields of a base class with `using "
      "cairn_bases = cairn::bases<Base>;`; save what a reference refers to by its owner");
  static_assert(
      is_not<Problem, problem::hidden_members>,
      "cairn: a class with the operations of a container, tensor, optional, pointer or the like may have members that "
      "these do not show: list its members with `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; "
      "}` (a base class with `using cairn_bases = cairn::bases<Base>;`), or specialise cairn::adapter<T>, or, if its "
      "elements, or its values and shape, are all that is to be saved, `template <> inline constexpr bool "
      "cairn::is_container<T> = true;`");
  static_assert(
      is_not<Problem, problem::own_members>,
      "cairn: a list for the base classes leaves out the members of the class itself: add them with a public line "
      "`static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`, and all fields of a base class with "
      "`using cairn_bases = cairn::bases<Base>;`");
  static_assert(
      is_not<Problem, problem::line_form>,
      "cairn: a line of this class is private or of another form than `static auto cairn_fields() { return "
      "cairn::fields<&T::a, &T::b>{}; }` (members that are not static), `using cairn_bases = cairn::bases<Base>;` "
      "(direct, public base classes), `using cairn_skip = cairn::names<\"a\">;`, `using cairn_changes = "
      "cairn::changes<...>;`, `static constexpr unsigned cairn_version = 1;` and, with a version and a default "
      "constructor, `void cairn_migrate(cairn::stored_parts& old)`");
  static_assert(
      is_not<Problem, problem::skip_list>,
      "cairn: cairn_skip has each name once, as the struct that contains it has it, and is not for a class with "
      "cairn_fields, whose list leaves out the members that are not state");
  static_assert(
      is_not<Problem, problem::changes>,
      "cairn: cairn_changes is made of cairn::renamed, added, since, removed and resizable, with names as in the "
      "paths of a checkpoint: `removed` names no member of the class, the others do; a former name is not that of "
      "another member; `since<N, ...>` needs a cairn_version of at least N. A cairn_version is that of this class, "
      "not of one in cairn_bases");
  static_assert(
      is_not<Problem, problem::path>,
      "cairn: two members of this class and of the base classes in cairn_bases have the same path in a checkpoint, or "
      "one has the reserved path __metadata__: rename it, or leave it out of the list. A path omits a trailing "
      "underscore, and the content of a base class such as a container is the part `base`");
  static_assert(
      is_not<Problem, problem::const_part>,
      "cairn: what is const can be saved but not loaded into: drop the const, also of the elements of a span, view or "
      "tuple, or list the members to load with cairn_fields; use cairn::state in place of cairn::const_state; in an "
      "adapter pass a part that is not const, or write `get` and `set`");
  static_assert(
      is_not<Problem, problem::const_content>,
      "cairn: a load assigns the content of an optional, a variant or a container, and replaces an object behind a "
      "pointer to const: drop its const, and that of its members; give its type an operator=, or, behind a pointer "
      "without a deleter of yours, a default constructor");
  static_assert(is_not<Problem, problem::no_default_constructor>,
                "cairn: a load makes the elements of a container: give their type a default constructor");
  static_assert(
      is_not<Problem, problem::keys>,
      "cairn: a save and a load order and copy keys: give the keys of an unordered container an operator<, and use "
      "values in place of pointers, whose order is known only after the load, and of what cannot be copied; or save "
      "the elements in a std::vector");
  static_assert(
      is_not<Problem, problem::element_type>,
      "cairn: a span or valarray has elements of fixed layout, and a tensor numbers of up to 64 bits or complex "
      "numbers of these: save the container that owns the elements, or use std::vector, or specialise "
      "cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::device_tensor>,
      "cairn: a tensor that may be on a device: specialise cairn::adapter<T> with a view that has copy functions "
      "(cairn::any_tensor_view, cairn::device_copies), also if it is always on the host");
  static_assert(
      is_not<Problem, problem::adapter_header>,
      "cairn: include the adapter for this type: cairn/adapters/armadillo.hpp, boost_multi_array.hpp or eigen.hpp, or "
      "of Eigen's other modules eigen/geometry.hpp, eigen/sparse.hpp or eigen/tensor.hpp; for other types of these "
      "libraries save what they are made from, or specialise cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::adapter_form>,
      "cairn: a cairn::adapter has `view(object)`, which returns a cairn::tensor_view, or `get(object)` and "
      "`set(object, value)`, or `fields(object, field)`; all are static, and what `get` returns contains no T again. "
      "Numbers and std::string have none");
  static_assert(
      is_not<Problem, problem::lacks_operations>,
      "cairn: cairn::is_container<T> is true, but the class lacks an operation that a save or a load calls: give it "
      "those of the corresponding standard type, including the const ones (a sequence: value_type, begin, end, size, "
      "resize; a tensor: data, shape), or specialise cairn::adapter<T>");
  static_assert(
      is_not<Problem, problem::lossy>,
      "cairn: what this type shows is not all that a load needs: of a piecewise distribution save the intervals and "
      "weights; for a sparse sequence, or a sequenced or random_access index of a multi_index_container, specialise "
      "cairn::adapter<T>, with a map from index to value, or a std::vector in that order, as the copy");
  static_assert(
      is_not<Problem, problem::cereal_functions>,
      "cairn: this class needs a cereal function of its own that saves it, and one that loads it (load_and_construct "
      "is not called). Of several choose with CEREAL_SPECIALIZE_FOR_ALL_ARCHIVES. Those of a base class leave out its "
      "own members; if it has none, `template <> inline constexpr bool cairn::use_bridge<T> = true;`");
  static_assert(
      is_not<Problem, problem::cereal_constructor>,  // one that is private to cereal::access cannot be found
      "cairn: a load through cereal functions is tried on a new object first, and load_and_construct is not called: "
      "give this class a default constructor; or, if it has one that is private to cereal::access, `template <> "
      "inline constexpr bool cairn::use_bridge<T> = true;`");
  static_assert(
      is_not<Problem, problem::enum_list>,
      "cairn: cairn::by_name lists values of the enum, each once and with a name of its own: `template <> struct "
      "cairn::by_name<kind> : cairn::enumerators<kind::a, kind::b> {};`. A value without a name in C++ gets one by "
      "`cairn::enumerator<\"name\", value>`");
  if constexpr (Problem == problem::none)
    return walk<State>;
  else
    return nullptr;
}

/// The text that names a part by its type.
template <class T>
inline constexpr part_text type_text = [] {
  part_text text;
  text.add(type_name_view<T>());
  return text;
}();

template <class T, bool Loads>
consteval walk_function checked_part_walk() {
  if constexpr (std::is_const_v<T>) {
    return checked_walk<T, Loads, problem::const_part, in_pieces<type_text<T>>()>();
  } else {
    return checked_walk<T, Loads>();
  }
}

}  // namespace cairn::inline v0_1::detail
