// Whole steps.
#pragma once

#include <type_traits>

namespace beaver {

// The smallest multiple of ``step`` that is not below ``value``.
template <class Integer>
constexpr Integer round_up(Integer value, std::common_type_t<Integer> step) {
    return (value + step - 1) / step * step;
}

}  // namespace beaver
