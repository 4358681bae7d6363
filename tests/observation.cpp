#include "cairn/observation.hpp"
