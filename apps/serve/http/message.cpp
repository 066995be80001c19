#include "message.hpp"

#include <algorithm>

namespace epsilog::serve {

const std::string* RequestHead::header(std::string_view lower_case_name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const Header& header) { return header.name == lower_case_name; });
  return found == headers.end() ? nullptr : &found->value;
}

const std::string* RequestHead::parameter(std::string_view name) const {
  const auto found = std::find_if(query.begin(), query.end(),
                                  [&](const auto& parameter) { return parameter.first == name; });
  return found == query.end() ? nullptr : &found->second;
}

}  // namespace epsilog::serve
