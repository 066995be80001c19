#include "figures_json.hpp"

#include "json_parts.hpp"

namespace epsilog::command {
namespace {

Json failure_json(const Failure& failure) {
  Json error{{"code", failure.code}, {"message", failure.message}};
  if (!failure.faults.empty()) error["faults"] = faults_json(failure.faults);
  return error;
}

}  // namespace

std::string figures_json(const Figures& figures) {
  return pretty(object_json(figures));
}

std::string row_json(std::size_t line, const Figures& figures) {
  Json object{{"line", line}};
  object.update(object_json(figures));
  return one_object(object, -1);
}

std::string error_json(const Failure& failure) {
  return pretty({{"error", failure_json(failure)}});
}

std::string row_error_json(std::size_t line, const Failure& failure) {
  return one_object({{"line", line}, {"error", failure_json(failure)}}, -1);
}

}  // namespace epsilog::command
