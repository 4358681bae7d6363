#include "cairn/store/directory_transaction.hpp"  // IWYU pragma: keep: tests/store/base.cpp and directory.cpp test it
