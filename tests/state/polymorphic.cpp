#include "cairn/state/polymorphic.hpp"
