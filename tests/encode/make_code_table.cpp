#include "cairn/encode/make_code_table.hpp"
