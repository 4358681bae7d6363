#include "cairn/state/loader.hpp"
