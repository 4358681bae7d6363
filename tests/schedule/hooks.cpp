#include "cairn/schedule/hooks.hpp"

#include <functional>

#include "catch.hpp"

namespace {

struct cost {};

struct none {};
struct right {
  void saved(const cost&) {}
};
struct overloaded {
  void saved(int) {}
  void saved(const char*) {}
};
struct generic {
  template <class T>
  void saved(T) {}
};
class hidden {
  [[maybe_unused]] void saved(const cost&) {}
};
struct inherited : hidden {};
struct number {
  bool saved = false;
};
struct last final {
  void saved() {}
};
struct last_none final {};
struct told_late {
  void on_saved(cost) {}
};
struct own_business {
  void on_saved(int) {}
};

}  // namespace

using cairn::detail::has_function_saved;
using cairn::detail::misspells_saved;
static_assert(!has_function_saved<none> && !has_function_saved<last_none>);
static_assert(has_function_saved<right> && has_function_saved<overloaded> && has_function_saved<generic>);
static_assert(has_function_saved<hidden> && has_function_saved<inherited> && has_function_saved<last>);
static_assert(!has_function_saved<number>);
static_assert(!cairn::detail::has_function_recall<right> && !cairn::detail::has_function_remember<right> &&
              !cairn::detail::has_function_restarted<right>);
static_assert(misspells_saved<told_late, cost>);
static_assert(!misspells_saved<own_business, cost> && !misspells_saved<right, cost> && !misspells_saved<none, cost>);
