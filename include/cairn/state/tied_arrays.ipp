// SPDX-License-Identifier: MIT
// Definitions of host_buffer.hpp, fetched_leaves.hpp, and tied_arrays of load_plan.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/state/convert.hpp"
#include "cairn/core/error.hpp"
#include "cairn/state/reshape.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/fetched_leaves.hpp"
#include "cairn/state/host_buffer.hpp"
#include "cairn/state/load_plan.hpp"

namespace cairn::inline v0_1::detail {

host_buffer::host_buffer(std::string path, memory_view& view, const device_copies& copies)
    : path_(std::move(path)), device_(view.memory), bytes_(view.bytes()), copies_(copies) {
  if (!copies_.to_host || !copies_.from_host)
    fail(errc::invalid, {path_, " is on a device: its view needs both copy functions, to_host and from_host"});
  std::int64_t lowest = 0;                                          // offset of the lowest element from view.memory
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dimensions;  // stride, length
  for (std::size_t d = 0; bytes_ > 0 && d < view.strides.size(); ++d) {
    if (view.shape[d] == 1) continue;
    const std::int64_t step = view.strides[d];
    if (step < 0) lowest += step * static_cast<std::int64_t>(view.shape[d] - 1);
    dimensions.emplace_back(static_cast<std::uint64_t>(step < 0 ? -step : step), view.shape[d]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  bool has_gaps = false;
  std::uint64_t packed = size_of(view.type);
  for (const auto& [step, length] : dimensions) {
    has_gaps = has_gaps || step != packed;
    packed *= length;
  }
  if (has_gaps)
    fail(errc::invalid,
         {path_,
          " is on a device and has gaps between its elements: return a view of the whole array, or copy it into a "
          "contiguous one first"});
  memory_.reset(new std::byte[bytes_]);  // not initialised
  device_ += lowest;
  view.memory = memory_.get() - lowest;
}

void host_buffer::read_device() const {
  if (bytes_ == 0) return;
  with_errors(path_ + " cannot be copied from its device",
              [&] { copies_.to_host(memory_.get(), device_, bytes_, copies_.context); });
}

void host_buffer::write_device() const {
  if (bytes_ == 0) return;
  with_errors(path_ + " cannot be copied to its device",
              [&] { copies_.from_host(device_, memory_.get(), bytes_, copies_.context); });
}

void fetch_leaf(fetched_leaves& by, const catalog& from, std::size_t index, const memory_view& to) {
  const stored_leaf& stored = from.leaves[index];
  const bool crops = element_count(stored.shape) != to.count();
  if (stored.type == to.type && to.contiguous() && !crops) return by.fetch(from, index, {to.memory, to.bytes()});
  std::vector<std::byte> bytes(stored.bytes());
  by.fetch(from, index, bytes);
  if (stored.type != to.type) {
    std::vector<std::byte> converted(element_count(stored.shape) * size_of(to.type));
    if (!convert(stored.type, bytes, to.type, converted))
      fail(errc::mismatch, {stored.path, " in ", from.origin, " has values that do not fit into ", name(to.type),
                            "; give it a wider type, or leave it out with filter"});
    bytes.swap(converted);
  }
  if (crops) {
    std::vector<std::byte> cropped(to.bytes());
    gather(overlap_of({to.type, stored.shape, bytes.data(), {}}, to.shape), 0, cropped);
    bytes.swap(cropped);
  }
  scatter(to, 0, bytes);
}

void tied_arrays::add(const memory_view& view, const device_copies* device, std::size_t index) {
  if (!view.memory || view.bytes() == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(view.memory);
  const std::uint64_t bytes = view.contiguous() ? view.bytes() : size_of(view.type);
  arrays_.push_back(
      {memory_key(view.memory, device).space, view.strides, begin, begin + bytes, view.count(), view.type, index});
}

std::vector<std::byte> tied_arrays::values_of(fetched_leaves& by, const catalog& from, const array& of) {
  std::vector<std::byte> values(of.count * size_of(of.type));
  fetch_leaf(by, from, of.leaf, {of.type, from.leaves[of.leaf].shape, values.data(), {}});
  return values;
}

std::vector<std::pair<std::string, std::string>> tied_arrays::find_conflicts(fetched_leaves& by, const catalog& from) {
  std::vector<std::pair<std::string, std::string>> found;
  using group = std::tuple<const void*, const std::vector<std::int64_t>&, dtype, std::uint64_t>;
  const auto group_of = [](const array& of) {  // arrays with gaps are compared with those of the same type and size
    const bool has_gaps = !of.strides.empty();
    return group(of.space, of.strides, has_gaps ? of.type : dtype{}, has_gaps ? of.count : 0);
  };
  const auto order = [&](const array& a, const array& b) {
    const auto left = group_of(a), right = group_of(b);
    return left != right ? left < right : a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  std::sort(arrays_.begin(), arrays_.end(), order);
  const array* outer = nullptr;  // of the arrays until now, the one that ends last
  std::vector<std::byte> outer_values;
  for (const array& each : arrays_) {
    const bool is_near = outer && group_of(*outer) == group_of(each);
    if (is_near && each.begin < outer->end) {
      if (each.leaf == outer->leaf && each.begin == outer->begin) continue;
      if (outer_values.empty()) outer_values = values_of(by, from, *outer);
      const auto values = values_of(by, from, each);
      const auto shared = outer_values.begin() + static_cast<std::ptrdiff_t>(each.begin - outer->begin);
      const auto size = std::min(values.size(), static_cast<std::size_t>(outer_values.end() - shared));
      if (!std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size), shared))
        found.emplace_back(from.leaves[outer->leaf].path, from.leaves[each.leaf].path);
    }
    if (!is_near || each.end > outer->end) {
      outer = &each;
      outer_values.clear();
    }
  }
  return found;
}

}  // namespace cairn::inline v0_1::detail
