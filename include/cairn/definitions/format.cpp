// SPDX-License-Identifier: MIT
// The definitions of store/ that write and read the files of a checkpoint.
#include "cairn/store/index.ipp"
#include "cairn/store/reader.ipp"
#include "cairn/store/shard.ipp"
