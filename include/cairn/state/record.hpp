// The fields of a plain aggregate, by reference and by name. Rests on Boost.PFR's structured-binding tables
// (`pfr/core.hpp`) and on the compiler's spelling of a pointer to a member of an object that is never
// defined.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>

#include "cairn/state/arity.hpp"
#include "cairn/state/member_name.hpp"

namespace cairn::detail {

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

/// References to all fields, as PFR ties them.
template <class Record>
constexpr auto tie(Record& record) noexcept {
  static_assert(arity<std::remove_cv_t<Record>> <= 100,
                "cairn: an aggregate of more than 100 fields: group some into a nested struct, or give the "
                "type a public "
                "line `static auto cairn_fields() { return cairn::fields<&T::a, &T::b>{}; }`");
  return boost::pfr::detail::tie_as_tuple(record, boost::pfr::detail::size_t_<arity<std::remove_cv_t<Record>>>{});
}

template <class Record>
struct nameless {
  Record value;
};
template <class Record>
extern const nameless<Record> undefined_object;  // only its address's spelling is used

template <class Pointer>
struct member_pointer {
  Pointer pointer;
};
template <class Pointer>
member_pointer(Pointer) -> member_pointer<Pointer>;

template <class Record, std::size_t I>
consteval auto field_pointer() noexcept {
  auto fields = tie(const_cast<Record&>(undefined_object<Record>.value));
  return member_pointer{std::addressof(boost::pfr::detail::sequence_tuple::get<I>(fields))};
}

template <class Record, std::size_t I>
consteval std::string_view field_name_view() {
  return last_identifier(signature_of_value<field_pointer<Record, I>()>());
}

template <class Record, std::size_t I>
inline constexpr short_name<field_name_view<Record, I>().size()> stored_field_name{field_name_view<Record, I>()};

template <class Record, std::size_t I>
using field_type = std::remove_reference_t<decltype(boost::pfr::detail::sequence_tuple::get<I>(
    std::declval<decltype(tie(std::declval<Record&>()))&>()))>;

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace cairn::detail
