// The definitions of chain/.
#include "cairn/chain/load.ipp"
#include "cairn/chain/merge.ipp"
#include "cairn/chain/reader.ipp"
#include "cairn/chain/save_pipeline.ipp"
