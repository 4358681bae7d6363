#include "cairn/store/write_piece.hpp"
