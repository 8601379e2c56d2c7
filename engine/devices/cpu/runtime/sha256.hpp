// SHA-256 (FIPS 180-4), for the names of kernels' objects.
#pragma once

#include <cstddef>
#include <string>

namespace beaver {

// 64 lower-case hexadecimal digits.
std::string sha256(const void *data, std::size_t size);

}  // namespace beaver
