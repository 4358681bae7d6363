#include "cairn/store/parent_link.hpp"
