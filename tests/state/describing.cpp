#include "cairn/state/describing.hpp"
