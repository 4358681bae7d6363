// SPDX-License-Identifier: MIT
// One class or class template for each category of types that the standard library does not have.
#pragma once

#include <cairn/adapters/cereal.hpp>

#include "cairn/fields.hpp"
#include "cairn/state/state.hpp"
#include "cairn/state/tensor_view.hpp"
#include "standard.hpp"

namespace matrix {

// `each` calls `action` for every member: tests fill the members with it.

enum class color : std::uint8_t { red, green, blue };

/// An aggregate with an order.
template <class T>
struct record {
  T first{};
  std::int32_t second = 0;

  void each(const auto& action) { action(first), action(second); }
  friend auto operator<=>(const record&, const record&) = default;
};

/// An aggregate with C arrays, and without an order.
template <class T>
struct with_array {
  T values[2]{};
  double scale = 0;

  void each(const auto& action) { action(values[0]), action(values[1]), action(scale); }
  friend bool operator==(const with_array&, const with_array&) = default;
};

/// A class with private members and a list of them.
template <class T>
class listed {
 public:
  static auto cairn_fields() { return cairn::fields<&listed::content_, &listed::count_>{}; }

  void each(const auto& action) { action(content_), action(count_); }
  friend bool operator==(const listed&, const listed&) = default;

 private:
  T content_{};
  std::int16_t count_ = 0;
};

/// A class that lists its base classes and its members.
template <class T>
struct derived : record<T> {
  using cairn_bases = cairn::bases<record<T>>;
  static auto cairn_fields() { return cairn::fields<&derived::more>{}; }
  T more{};

  void each(const auto& action) { record<T>::each(action), action(more); }
  friend auto operator<=>(const derived&, const derived&) = default;
};

/// A class with an adapter that names its parts.
template <class T>
class parted {
 public:
  T& part() { return part_; }
  void each(const auto& action) { action(part_); }
  friend bool operator==(const parted&, const parted&) = default;

 private:
  T part_{};
};

/// A class that is saved as a copy of another type.
template <class T>
class closed {
 public:
  const T& get() const { return content_; }
  void set(T content) { content_ = std::move(content); }
  void each(const auto& action) { action(content_); }
  friend bool operator==(const closed&, const closed&) = default;

 private:
  T content_{};
};

/// A number that is saved as a copy of another type.
class number {
 public:
  [[nodiscard]] std::int32_t get() const { return value_; }
  void set(std::int32_t value) { value_ = value; }
  void each(const auto& action) { action(value_); }
  friend auto operator<=>(const number&, const number&) = default;

 private:
  std::int32_t value_ = 0;
};

/// An array of two dimensions, which is viewed.
class grid {
 public:
  std::vector<float>& values() { return values_; }
  [[nodiscard]] std::size_t rows() const { return values_.size() / 2; }
  friend bool operator==(const grid&, const grid&) = default;

 private:
  std::vector<float> values_;
};

/// A class with cereal functions.
template <class T>
class archived {
 public:
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::make_nvp("content", content_), count_);
  }
  void each(const auto& action) { action(content_), action(count_); }
  friend bool operator==(const archived&, const archived&) = default;

 private:
  T content_{};
  std::int32_t count_ = 0;
};

/// A tensor with the operations of one.
class tensor {
 public:
  using value_type = float;

  [[nodiscard]] float* data() { return values_.data(); }
  [[nodiscard]] const float* data() const { return values_.data(); }
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  void resize(const cairn::extents& shape) {
    shape_.assign(shape.begin(), shape.end());
    values_.assign(cairn::element_count(shape), 0);
  }
  friend bool operator==(const tensor&, const tensor&) = default;

 private:
  std::vector<std::size_t> shape_ = {0, 3};
  std::vector<float> values_;
};

/// A view of an array of two dimensions, whose memory is not state.
struct viewed {
  cairn::skip<std::shared_ptr<std::array<std::int32_t, 6>>> memory{std::make_shared<std::array<std::int32_t, 6>>()};
  cairn::tensor_view<std::int32_t> view{(*memory)->data(), {2, 3}};

  void each(const auto& action) {
    for (auto& value : **memory) action(value);
  }
};

/// A span of three elements, whose memory is not state.
template <class T>
struct spanned {
  cairn::skip<std::shared_ptr<std::array<T, 3>>> memory{std::make_shared<std::array<T, 3>>()};
  std::span<T> span{**memory};

  void each(const auto& action) {
    for (T& value : span) action(value);
  }
};

/// Named references to an object that is not state itself.
template <class T>
struct scattered {
  cairn::skip<std::shared_ptr<T>> memory{std::make_shared<T>()};
  cairn::state parts{{"part", **memory}};

  void each(const auto& action) { action(**memory); }
};

/// An object with one owner, and an observer that makes no difference to its life.
template <class T>
struct observed {
  std::shared_ptr<T> owner;
  std::weak_ptr<T> observer;

  void each(const auto& action) {
    action(owner);
    observer = owner;
  }
};

/// A base class of objects behind a pointer, and its two derived classes.
template <class T>
struct shape {
  using content = T;

  shape() = default;
  shape(const shape&) = delete;
  shape& operator=(const shape&) = delete;
  virtual ~shape() = default;
  virtual void fill(void (*action)(T&, void*), void* context) = 0;
};
template <class T>
struct circle : shape<T> {
  static auto cairn_fields() { return cairn::fields<&circle::radius>{}; }
  T radius{};
  void fill(void (*action)(T&, void*), void* context) override { action(radius, context); }
};
template <class T>
struct line : shape<T> {
  static auto cairn_fields() { return cairn::fields<&line::from, &line::to>{}; }
  T from{};
  std::int32_t to = 0;
  void fill(void (*action)(T&, void*), void* context) override { action(from, context); }
};

/// The hash of any type.
struct one_bucket {
  template <class T>
  std::size_t operator()(const T&) const {
    return 0;
  }
};

}  // namespace matrix

template <>
inline constexpr bool cairn::is_container<matrix::tensor> = true;

template <class T>
struct cairn::adapter<matrix::parted<T>> {
  template <class Field>
  static void fields(matrix::parted<T>& object, const Field& field) {
    field("part", object.part());
  }
};

template <class T>
struct cairn::adapter<matrix::closed<T>> {
  static T get(const matrix::closed<T>& object) { return object.get(); }
  static void set(matrix::closed<T>& object, T content) { object.set(std::move(content)); }
};

template <>
struct cairn::adapter<matrix::number> {
  static std::int32_t get(const matrix::number& object) { return object.get(); }
  static void set(matrix::number& object, std::int32_t value) { object.set(value); }
};

template <>
struct cairn::adapter<matrix::grid> {
  static tensor_view<float> view(matrix::grid& object) { return {object.values().data(), {object.rows(), 2}}; }
  static bool can_be(const extents& shape) { return shape.size() == 2 && shape[1] == 2; }
  static void resize(matrix::grid& object, const extents& shape) { object.values().resize(element_count(shape)); }
};

/// Where T is a type of Cairn, its functions are not found without this.
template <class T>
inline constexpr bool cairn::use_bridge<matrix::archived<T>> = true;

template <class T>
struct cairn::polymorphic<matrix::shape<T>>
    : cairn::one_of<cairn::named<"circle", matrix::circle<T>>, cairn::named<"line", matrix::line<T>>> {};
