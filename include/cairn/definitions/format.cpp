// SPDX-License-Identifier: MIT
// The definitions of store/ that write and read the files of a checkpoint.
#include "cairn/store/index.ipp"
#include "cairn/store/layout.ipp"
#include "cairn/store/reader.ipp"
#include "cairn/store/shard.ipp"
#include "cairn/store/stored_checkpoint.ipp"
#include "cairn/store/writer.ipp"
