// The definitions of encode/.
#include "cairn/encode/lc.ipp"
#include "cairn/encode/lossless.ipp"
