// expect: give it a public line
// lines: 400 each error explains all overloads
#include <string>

#include "cairn/checkpointer.hpp"
#include "cairn/load.hpp"
#include "cairn/save.hpp"

class trainer {
 public:
  trainer() = default;

 private:
  int hidden_ = 0;
};

void check(cairn::checkpointer& run, trainer& state, const std::string& path, const cairn::any_store& store,
           const cairn::checkpoint& opened) {
  (void)cairn::save(path, state);        // error
  (void)cairn::save(store, "a", state);  // error
  (void)cairn::load(path, state);        // error
  (void)cairn::load(store, state);       // error
  (void)cairn::load(store, "a", state);  // error
  (void)cairn::load(opened, state);      // error
  (void)run.step(state, {.step = 1});    // error
  (void)run.save(state, {.step = 1});    // error
  (void)run.restore(state);              // error
  (void)run.restore_best(state);         // error
}
