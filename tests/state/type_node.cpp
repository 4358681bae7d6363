#include "cairn/state/type_node.hpp"
