// SPDX-License-Identifier: MIT
// Functions in a user's namespace: argument-dependent look-up finds them if the library calls a function of that name
// unqualified.

#include "cairn/checkpointer.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"

namespace greedy {

// Better matches than the library's own functions, and all deleted: GREEDY(a, b) is a function a, and GREEDY(b) once it
// is looked at again.
#define GREEDY(name, ...)         \
  template <class... Types>       \
  void name(Types&&...) = delete; \
  __VA_OPT__(GREEDY_AGAIN AND()(__VA_ARGS__))
#define GREEDY_AGAIN() GREEDY
#define AND
#define AGAIN(...) __VA_ARGS__
#define AGAIN_8(...) AGAIN(AGAIN(AGAIN(AGAIN(AGAIN(AGAIN(AGAIN(AGAIN(__VA_ARGS__))))))))
#define AGAIN_64(...) AGAIN_8(AGAIN_8(AGAIN_8(AGAIN_8(AGAIN_8(AGAIN_8(AGAIN_8(AGAIN_8(__VA_ARGS__))))))))
#define AGAIN_512(...) AGAIN_64(AGAIN_64(AGAIN_64(AGAIN_64(AGAIN_64(AGAIN_64(AGAIN_64(AGAIN_64(__VA_ARGS__))))))))

AGAIN_512(GREEDY(accepts, act, add, address_of, addressof, advance, all, alternative, append, array, as_const, as_error,
                 ask, at, base, bases, check, check_limits, checked_part_walk, code, columns, components, construct,
                 contain, content, contiguous, copy, copy_of, count, count_of, cref, data, data_of, describe, destroy,
                 distance, each, element, elements_of, emplace, end_copy, enter, entries, entry_of_type, equal,
                 equivalent, erase, exchange, exists, fail, fields, fields_from, find, first, fits, flat, for_each,
                 for_each_element, for_types_behind, forward, found, found_behind, gather, get_element, index, index_of,
                 insert, invoke, is_null, key, key_text, leave, length, less, limits_of, list, load, make, make_object,
                 max, member_of_record, members, min, move, name, name_text, narrow_float, new_object, new_prototype,
                 node_of, note, number, of, owner, owns, parse_key, part, part_as, parts, path, position, problem_of,
                 prototype, put, rank_path, ranks, read, ref, refer, refer_to, reject, rep, report, reserve, reset,
                 resize, resize_to, sample, save, scatter, search, sequence, set, shape, shared, size, size_of, skip,
                 sort, stable_name, stored, strides, structure_tie, take, tie, tie_fields, to_string, trial, try_put,
                 type_name, type_of, unmade, value, values, verify, view, view_of, visit, walk, walk_adapted, walk_all,
                 walk_base, walk_complex, walk_duration, walk_element, walk_elements, walk_fixed_array, walk_listed,
                 walk_map, pass_members, walk_optional, walk_part, walk_record, walk_sequence, walk_shared, walk_span,
                 walk_temporary, walk_tensor, walk_tuple, walk_unique, walk_variant, walk_weak, walker_, what,
                 with_errors, with_fields, with_path, write))
#undef GREEDY

struct plain {
  int a = 1;
  float b = 2;
  friend auto operator<=>(const plain&, const plain&) = default;
};

class listed {
 public:
  listed() = default;
  explicit listed(int a) : a_(a) {}
  static auto cairn_fields() { return cairn::fields<&listed::a_>{}; }
  friend bool operator==(const listed&, const listed&) = default;

 private:
  int a_ = 3;
};

struct module {
  virtual ~module() = default;
  int id = 4;
};
struct derived : module {
  std::vector<plain> values;
  static auto cairn_fields() { return cairn::fields<&derived::id, &derived::values>{}; }
};

enum class colour : std::uint8_t { red, green };

/// A tensor of the user.
class matrix {
 public:
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  std::array<std::size_t, 1> shape() const { return {values_.size()}; }
  void resize(std::array<std::size_t, 1> to) { values_.resize(to[0]); }
  std::vector<float> values_{1, 2, 3};
};

struct everything {
  std::vector<plain> columns{{}, {5, 6}};
  std::vector<std::vector<plain>> rows{{{7, 8}}, {}};
  std::array<listed, 2> fixed{};
  std::map<std::string, plain> named{{"x", {}}};
  std::map<plain, std::vector<listed>> keyed{{plain{}, {listed{}}}};
  std::set<plain> set{plain{}};
  std::optional<plain> maybe = plain{};
  std::variant<colour, listed> either = listed(9);
  std::tuple<plain, colour> several{};
  std::unique_ptr<listed> owned = std::make_unique<listed>(10);
  std::shared_ptr<plain> shared = std::make_shared<plain>();
  std::unique_ptr<module> object = std::make_unique<derived>();
  std::stack<listed> stack;
  matrix tensor;
  plain grid[2][3] = {};
};

}  // namespace greedy

template <>
inline constexpr bool cairn::is_container<greedy::matrix> = true;
template <>
struct cairn::polymorphic<greedy::module> : cairn::one_of<greedy::derived> {};

TEST_CASE("functions of the user's namespace are not called in place of the library's") {
  cairn::checkpointer checkpoints{cairn::stores::memory()};
  greedy::everything state;
  state.stack.push(greedy::listed(11));
  static_cast<greedy::derived&>(*state.object).values.push_back({12, 13});
  checkpoints.save(state, {.step = 1});

  greedy::everything back;
  back.columns.clear();
  back.either = greedy::colour::green;
  back.owned.reset();
  back.object.reset();
  REQUIRE(checkpoints.restore(back));
  CHECK((back.columns == state.columns && back.rows == state.rows && back.keyed == state.keyed));
  CHECK((back.either == state.either && *back.owned == *state.owned && back.stack == state.stack));
  CHECK(dynamic_cast<greedy::derived&>(*back.object).values == std::vector<greedy::plain>{{12, 13}});
}
