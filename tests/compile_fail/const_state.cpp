// expect: a const state can be saved but not loaded into
// lines: 270 each error explains all overloads
#include <string>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"

struct trainer {
  int step = 0;
};

void check(cairn::checkpointer& run, const trainer& state, const std::string& path, const cairn::any_store& store,
           const cairn::checkpoint& opened) {
  (void)cairn::load(path, state);        // error
  (void)cairn::load(store, state);       // error
  (void)cairn::load(store, "a", state);  // error
  (void)cairn::load(opened, state);      // error
  (void)run.restore(state);              // error
  (void)run.restore_best(state);         // error
}
