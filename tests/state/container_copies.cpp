#include "cairn/state/container_copies.hpp"
