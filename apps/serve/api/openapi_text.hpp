// schema/openapi.json, as it was built in.
#pragma once

#include <string_view>

namespace epsilog::serve {

[[nodiscard]] std::string_view openapi_text();

}  // namespace epsilog::serve
