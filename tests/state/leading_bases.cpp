#include "cairn/state/leading_bases.hpp"
