#include "figures_json.hpp"

#include "json_parts.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

Json failure_json(const Failure& failure) {
  Json error{{"code", failure.code}, {"message", failure.message}};
  if (!failure.faults.empty()) error["faults"] = wire::faults_json(failure.faults);
  return error;
}

}  // namespace

Json object_json(const Figures& figures) {
  struct Value {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(std::uint64_t count) const { return count; }
    Json operator()(bool yes) const { return yes; }
    Json operator()(const Figures& inner) const { return object_json(inner); }
    Json operator()(const std::vector<Figures>& list) const {
      Json array = Json::array();
      for (const Figures& one : list) array.push_back(object_json(one));
      return array;
    }
  };
  Json object = Json::object();
  for (const Figure& figure : figures) object[figure.name] = std::visit(Value{}, figure.value);
  return object;
}

std::string figures_json(const Figures& figures) {
  return wire::pretty(object_json(figures));
}

std::string row_json(std::size_t line, const Figures& figures) {
  Json object{{"line", line}};
  object.update(object_json(figures));
  return wire::one_object(object, -1);
}

std::string error_json(const Failure& failure) {
  return wire::pretty({{"error", failure_json(failure)}});
}

std::string row_error_json(std::size_t line, const Failure& failure) {
  return wire::one_object({{"line", line}, {"error", failure_json(failure)}}, -1);
}

}  // namespace epsilog::command
