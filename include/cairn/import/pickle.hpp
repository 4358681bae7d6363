// SPDX-License-Identifier: MIT
// The values that a pickle of Python describes, read from untrusted bytes. Nothing that it names is run.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/import/import_memory.hpp"

namespace cairn::inline v0_1::detail {

/// A value of a pickle. Its texts are in the bytes of the pickle. It names other values by their numbers (pickle_machine::at).
struct pickle_value {
  enum class kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    sequence,     ///< a list or tuple
    dict,         ///< or an OrderedDict
    global,       ///< a function or class, by its name
    call,         ///< the result of a call, which was not made: an object of a class, for example
    persistent,   ///< something outside of the pickle
    unsupported,  ///< a number of more than 64 bits, a string of bytes, a set
    mark          ///< the beginning of a list of values; never a value of a finished pickle
  };

  kind what{};
  std::uint64_t number = 0;   ///< the bits of a boolean, an integer (signed) or a real number
  std::string_view text{};    ///< of a text; the name of a global
  std::string_view module{};  ///< of a global
  /// Of a sequence; of a dict: key, value, ...; of a call: function, arguments, and the dict or sequence of what was added to its result, if any; of a
  /// persistent value: its id.
  std::vector<std::size_t> items{};
};

/// Runs the operations that build values. Source: CPython's Lib/pickletools.py, protocols 2 to 5 without out-of-band buffers and extension codes.
class pickle_machine {
 public:
  /// `bytes` and `memory` have to stay. `origin` names the bytes in messages.
  pickle_machine(std::span<const std::byte> bytes, std::string_view origin, import_memory& memory)
      : left_(bytes), origin_(origin), memory_(memory) {}

  /// Returns the value that the pickle builds. errc::corrupt for what is no pickle; errc::unsupported for other
  /// operations; errc::no_memory. O(n) of the bytes. Call it once.
  std::size_t run() {
    while (true) {
      const auto operation = static_cast<char>(natural(1));
      if (operation == '.') return pop();
      if (!build(operation) && !change(operation))
        fail(errc::unsupported, {origin_, ": the pickle has the operation ", static_cast<unsigned char>(operation),
                                 ", which is not known"});
    }
  }

  [[nodiscard]] const pickle_value& at(std::size_t value) const { return values_[value]; }

 private:
  using kind = pickle_value::kind;
  static constexpr std::uint64_t value_bytes = 160, reference_bytes = 40, key_bytes = 80;  // with those of the heap

  [[noreturn]] void corrupt(std::string_view what) const { fail(errc::corrupt, {origin_, ": the pickle has ", what}); }

  /// Operations that build a value of what follows them, and of the values before.
  bool build(char operation) {
    switch (operation) {
      case '(':
        return push({.what = kind::mark});
      case 'N':
        return push({.what = kind::none});
      case '\x88':
      case '\x89':
        return push({.what = kind::boolean, .number = operation == '\x88'});
      case 'J':
        return push_integer(std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(natural(4))));
      case 'K':
        return push_integer(static_cast<std::int64_t>(natural(1)));
      case 'M':
        return push_integer(static_cast<std::int64_t>(natural(2)));
      case '\x8a':
      case '\x8b':
        return push_long(natural(operation == '\x8a' ? 1 : 4));
      case 'G':
        return push_real();
      case 'X':
        return push_text(natural(4));
      case '\x8c':
        return push_text(natural(1));
      case '\x8d':
        return push_text(natural(8));
      case 'U':  // strings of bytes
      case 'C':
        return push_bytes(natural(1));
      case 'T':
      case 'B':
        return push_bytes(natural(4));
      case '\x8e':
      case '\x96':
        return push_bytes(natural(8));
      case '}':
        return push({.what = kind::dict});
      case ']':
      case ')':
        return push({.what = kind::sequence});
      case '\x8f':  // EMPTY_SET
        return push({.what = kind::unsupported});
      case '\x91':  // FROZENSET
        pop_to_mark();
        return push({.what = kind::unsupported});
      case 't':
        return push({.what = kind::sequence, .items = pop_to_mark()});
      case '\x85':
      case '\x86':
      case '\x87':
        return push({.what = kind::sequence, .items = pop_items(static_cast<std::size_t>(operation - '\x84'))});
      case 'c':
        return push_global();
      case '\x93':
        return push_global_of_stack();
      case 'Q':
        return push({.what = kind::persistent, .items = pop_items(1)});
      case 'R':
      case '\x81':  // NEWOBJ
        return push_call(pop_items(2));
      case '\x92':  // NEWOBJ_EX: class, arguments, named arguments
        pop();
        return push_call(pop_items(2));
      default:
        return false;
    }
  }

  /// Operations that fill containers, remember values and order the stack.
  bool change(char operation) {
    switch (operation) {
      case '\x80':  // PROTO
        take(1);
        return true;
      case '\x95':  // FRAME
        take(8);
        return true;
      case '0':
        if (!stack_.empty()) stack_.pop_back();
        return true;
      case '1':  // POP_MARK
        pop_to_mark();
        return true;
      case 'a':
        return add_to(kind::sequence, pop_items(1));
      case 'e':
      case '\x90':  // ADDITEMS
        return add_to(kind::sequence, pop_to_mark());
      case 's':
        return add_to(kind::dict, pop_items(2));
      case 'u':
        return add_to(kind::dict, pop_to_mark());
      case 'b':  // BUILD: the members of an object
        pop();
        return true;
      case 'q':
      case 'r':
        return remember(natural(operation == 'q' ? 1 : 4));
      case '\x94':  // MEMOIZE
        return remember(memo_.size());
      case 'h':
      case 'j':
        return recall(natural(operation == 'h' ? 1 : 4));
      default:
        return false;
    }
  }

  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) corrupt("an end within an operation");
    const std::string_view taken(reinterpret_cast<const char*>(left_.data()), static_cast<std::size_t>(count));
    left_ = left_.subspan(static_cast<std::size_t>(count));
    return taken;
  }
  std::uint64_t natural(std::size_t width) {
    std::uint64_t number = 0;
    std::memcpy(&number, take(width).data(), width);
    return number;
  }
  std::string_view line() {
    const std::string_view text(reinterpret_cast<const char*>(left_.data()), left_.size());
    const auto end = text.find('\n');
    if (end == text.npos) corrupt("an end within an operation");
    return take(end + 1).substr(0, end);
  }

  bool push(pickle_value value) {
    stack_.push_back(make(std::move(value)));
    return true;
  }
  std::size_t make(pickle_value value) {
    memory_.take(value_bytes, origin_);
    values_.push_back(std::move(value));
    return values_.size() - 1;
  }
  bool push_integer(std::int64_t value) {
    return push({.what = kind::integer, .number = std::bit_cast<std::uint64_t>(value)});
  }
  /// An integer in two's complement.
  bool push_long(std::uint64_t bytes) {
    const auto digits = take(bytes);
    if (bytes > 8) return push({.what = kind::unsupported});
    std::uint64_t number = 0;
    std::memcpy(&number, digits.data(), digits.size());
    if (bytes > 0 && bytes < 8 && number >> (8 * bytes - 1) != 0) number |= ~std::uint64_t{0} << (8 * bytes);
    return push({.what = kind::integer, .number = number});
  }
  bool push_real() {
    std::uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8U | static_cast<unsigned char>(byte);  // the highest byte first
    return push({.what = kind::real, .number = bits});
  }
  bool push_text(std::uint64_t bytes) { return push({.what = kind::text, .text = take(bytes)}); }
  bool push_bytes(std::uint64_t bytes) {
    take(bytes);
    return push({.what = kind::unsupported});
  }
  bool push_global() {
    const auto module = line();
    return push({.what = kind::global, .text = line(), .module = module});
  }
  bool push_global_of_stack() {
    const auto names = pop_items(2);
    if (at(names[0]).what != kind::text || at(names[1]).what != kind::text) corrupt("a class without a name");
    return push({.what = kind::global, .text = at(names[1]).text, .module = at(names[0]).text});
  }
  bool push_call(std::vector<std::size_t> parts) {
    const auto& function = at(parts[0]);
    const bool is_dict = function.what == kind::global && function.module == "collections" &&
                         function.text == "OrderedDict" && at(parts[1]).items.empty();
    if (is_dict) return push({.what = kind::dict});
    return push({.what = kind::call, .items = std::move(parts)});
  }

  std::size_t pop() {
    if (stack_.empty() || at(stack_.back()).what == kind::mark) corrupt("no value where an operation needs one");
    const auto top = stack_.back();
    stack_.pop_back();
    return top;
  }
  std::vector<std::size_t> pop_items(std::size_t count) {
    std::vector<std::size_t> items(count);
    for (auto each = items.rbegin(); each != items.rend(); ++each) *each = pop();
    return items;
  }
  std::vector<std::size_t> pop_to_mark() {
    auto first = stack_.size();
    while (first > 0 && at(stack_[first - 1]).what != kind::mark) --first;
    if (first == 0) corrupt("no beginning of a list of values");
    std::vector<std::size_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first - 1);
    return items;
  }

  bool add_to(kind wanted, const std::vector<std::size_t>& items) {
    if (stack_.empty()) corrupt("no container for its items");
    auto& object = values_[stack_.back()];
    if (object.what == kind::unsupported) return true;  // a set
    if (object.what == kind::call && object.items.size() == 2) object.items.push_back(make({.what = wanted}));
    auto& into = object.what == kind::call ? values_[object.items[2]] : object;
    if (into.what != wanted || (wanted == kind::dict && items.size() % 2 != 0)) corrupt("items of no container");
    into.items.insert(into.items.end(), items.begin(), items.end());
    return true;
  }
  bool remember(std::uint64_t key) {
    if (stack_.empty() || at(stack_.back()).what == kind::mark) corrupt("nothing to remember");
    memory_.take(key_bytes, origin_);
    memo_[key] = stack_.back();
    return true;
  }
  bool recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) corrupt("a value that it has not remembered");
    memory_.take(reference_bytes, origin_);
    stack_.push_back(found->second);
    return true;
  }

  std::span<const std::byte> left_;
  std::string_view origin_;
  import_memory& memory_;
  std::deque<pickle_value> values_;  // references stay valid
  std::vector<std::size_t> stack_;
  std::unordered_map<std::uint64_t, std::size_t> memo_;
};

}  // namespace cairn::inline v0_1::detail
