#include "cairn/state/shared_objects.hpp"
