#include "filter_arguments.hpp"

#include "epsilog/accounting/errors.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

std::string time_argument(const std::optional<std::string>& text, const char* option) {
  if (!text) return "";
  try {
    return engine::filter_time(*text, option);
  } catch (const InvalidParameter& error) {
    throw UsageError(printable(error.what()));
  }
}

}  // namespace

engine::DecisionFilter filter_from_arguments(const FilterArguments& arguments) {
  if (arguments.column.has_value() != arguments.value.has_value()) {
    throw UsageError("--column and --value go together: --column ward --value Oncology");
  }
  if (arguments.by_asker && arguments.by_asker->empty()) throw UsageError("--by-asker: must not be empty");
  if (arguments.column && arguments.column->empty()) throw UsageError("--column: must not be empty");
  return {.asker = arguments.by_asker.value_or(""),
          .since = time_argument(arguments.since, "--since"),
          .until = time_argument(arguments.until, "--until"),
          .column = arguments.column.value_or(""),
          .value = arguments.value.value_or("")};
}

}  // namespace epsilog::command
