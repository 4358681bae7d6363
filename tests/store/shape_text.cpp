#include "cairn/store/shape_text.hpp"
