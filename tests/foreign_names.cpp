// SPDX-License-Identifier: MIT
// Functions in a user's namespace: argument-dependent look-up finds them if the library calls a function of that name
// unqualified.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stack>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "cairn/checkpointer.hpp"
#include "cairn/store/memory.hpp"
#include "catch.hpp"

namespace greedy {

// Better matches than the library's own functions, and all deleted.
#define GREEDY(name)        \
  template <class... Types> \
  void name(Types&&...) = delete;

GREEDY(accepts)
GREEDY(act)
GREEDY(add)
GREEDY(address_of)
GREEDY(addressof)
GREEDY(advance)
GREEDY(all)
GREEDY(alternative)
GREEDY(append)
GREEDY(array)
GREEDY(as_const)
GREEDY(as_error)
GREEDY(ask)
GREEDY(at)
GREEDY(base)
GREEDY(bases)
GREEDY(check)
GREEDY(check_limits)
GREEDY(checked_part_walk)
GREEDY(code)
GREEDY(columns)
GREEDY(components)
GREEDY(construct)
GREEDY(contain)
GREEDY(content)
GREEDY(contiguous)
GREEDY(copy)
GREEDY(copy_of)
GREEDY(count)
GREEDY(count_of)
GREEDY(cref)
GREEDY(data)
GREEDY(data_of)
GREEDY(describe)
GREEDY(destroy)
GREEDY(distance)
GREEDY(each)
GREEDY(element)
GREEDY(elements_of)
GREEDY(emplace)
GREEDY(end_copy)
GREEDY(enter)
GREEDY(entries)
GREEDY(entry_of_type)
GREEDY(equal)
GREEDY(equivalent)
GREEDY(erase)
GREEDY(exchange)
GREEDY(exists)
GREEDY(fail)
GREEDY(fields)
GREEDY(fields_from)
GREEDY(find)
GREEDY(first)
GREEDY(fits)
GREEDY(flat)
GREEDY(for_each)
GREEDY(for_each_element)
GREEDY(for_types_behind)
GREEDY(forward)
GREEDY(found)
GREEDY(found_behind)
GREEDY(gather)
GREEDY(get_element)
GREEDY(index)
GREEDY(index_of)
GREEDY(insert)
GREEDY(invoke)
GREEDY(is_null)
GREEDY(key)
GREEDY(key_text)
GREEDY(leave)
GREEDY(length)
GREEDY(less)
GREEDY(limits_of)
GREEDY(list)
GREEDY(load)
GREEDY(make)
GREEDY(make_object)
GREEDY(max)
GREEDY(member_of_record)
GREEDY(members)
GREEDY(min)
GREEDY(move)
GREEDY(name)
GREEDY(name_text)
GREEDY(narrow_float)
GREEDY(new_object)
GREEDY(new_prototype)
GREEDY(node_of)
GREEDY(note)
GREEDY(number)
GREEDY(of)
GREEDY(owner)
GREEDY(owns)
GREEDY(parse_key)
GREEDY(part)
GREEDY(part_as)
GREEDY(parts)
GREEDY(path)
GREEDY(position)
GREEDY(problem_of)
GREEDY(prototype)
GREEDY(put)
GREEDY(rank_path)
GREEDY(ranks)
GREEDY(read)
GREEDY(ref)
GREEDY(refer)
GREEDY(refer_to)
GREEDY(reject)
GREEDY(rep)
GREEDY(report)
GREEDY(reserve)
GREEDY(reset)
GREEDY(resize)
GREEDY(resize_to)
GREEDY(sample)
GREEDY(save)
GREEDY(scatter)
GREEDY(search)
GREEDY(sequence)
GREEDY(set)
GREEDY(shape)
GREEDY(shared)
GREEDY(size)
GREEDY(size_of)
GREEDY(skip)
GREEDY(sort)
GREEDY(stored)
GREEDY(strides)
GREEDY(structure_tie)
GREEDY(take)
GREEDY(tie)
GREEDY(tie_fields)
GREEDY(to_string)
GREEDY(trial)
GREEDY(try_put)
GREEDY(type_name)
GREEDY(type_of)
GREEDY(unmade)
GREEDY(value)
GREEDY(values)
GREEDY(verify)
GREEDY(view)
GREEDY(view_of)
GREEDY(visit)
GREEDY(walk)
GREEDY(walk_adapted)
GREEDY(walk_all)
GREEDY(walk_base)
GREEDY(walk_element)
GREEDY(walk_elements)
GREEDY(walk_fixed_array)
GREEDY(walk_listed)
GREEDY(walk_map)
GREEDY(pass_members)
GREEDY(walk_optional)
GREEDY(walk_part)
GREEDY(walk_record)
GREEDY(walk_sequence)
GREEDY(walk_shared)
GREEDY(walk_span)
GREEDY(walk_temporary)
GREEDY(walk_tensor)
GREEDY(walk_tuple)
GREEDY(walk_unique)
GREEDY(walk_variant)
GREEDY(walk_weak)
GREEDY(walker_)
GREEDY(what)
GREEDY(with_errors)
GREEDY(with_fields)
GREEDY(with_path)
GREEDY(write)
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
