#include "cairn/state/refuse_lines.hpp"
