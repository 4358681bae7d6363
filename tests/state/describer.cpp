#include "cairn/state/describer.hpp"
