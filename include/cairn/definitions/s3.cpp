// SPDX-License-Identifier: MIT
// The store in a bucket. The target cairn::s3 compiles it, in the project that uses it.
#include "cairn/store/s3/client.ipp"
#include "cairn/store/s3/credentials.ipp"
#include "cairn/store/s3/curl.ipp"
#include "cairn/store/s3/request.ipp"
#include "cairn/store/s3/s3.ipp"
