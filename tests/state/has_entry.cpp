#include "cairn/state/has_entry.hpp"
