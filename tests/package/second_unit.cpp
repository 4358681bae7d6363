// A second unit that uses all of Cairn: nothing may be defined twice.
#include <cairn/cairn.hpp>

#include "training.hpp"

void save(const std::string& folder, const training& state) { cairn::save(folder, state); }
