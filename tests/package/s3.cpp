// SPDX-License-Identifier: MIT
// A user's program that needs cairn::s3.
#include <cairn/cairn.hpp>
#include <cairn/s3.hpp>

#include <string>

int main() {
  const cairn::any_store store = cairn::stores::s3{"s3://bucket/runs/lenet", {.region = "eu-west-1"}};
  try {
    cairn::stores::s3{"s3://bucket"};
  } catch (const cairn::error& failure) {
    return failure.code() == cairn::errc::invalid && store.location() == "s3://bucket/runs/lenet" ? 0 : 1;
  }
  return 1;
}
