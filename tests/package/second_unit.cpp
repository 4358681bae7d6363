// A second unit that uses Cairn: the program does not link if a definition is in both.
#include <cairn/cairn.hpp>

#include "training.hpp"

void save_too(const std::string& folder, const training& state) { cairn::save(folder, state); }
