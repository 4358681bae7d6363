// A header-only program that needs no definition of the library, so that it compiles at once.
#include <cairn/fields.hpp>
#include <cairn/version.hpp>

#include <cstdio>

class counter {
 public:
  static auto cairn_fields() { return cairn::fields<&counter::step_>{}; }

 private:
  int step_ = 0;
};

int main() {
  static_cast<void>(counter::cairn_fields());
  std::puts("cairn " CAIRN_VERSION);
}
