#include "cairn/state/any_state.hpp"
