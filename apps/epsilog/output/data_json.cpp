#include "data_json.hpp"

#include "json_parts.hpp"

namespace epsilog::command {

std::string data_check_json(const std::vector<DatasetReport>& reports,
                            const std::vector<std::string>& without_source) {
  Json datasets = Json::array();
  for (const DatasetReport& report : reports) {
    Json columns = Json::array();
    for (const auto& column : report.data.columns) {
      columns.push_back({{"column", column.column},
                         {"missing", column.missing},
                         {"nulls", column.nulls},
                         {"unreadable", column.unreadable},
                         {"unreadable_at", column.unreadable_at},
                         {"out_of_bounds", column.out_of_bounds},
                         {"undeclared", column.undeclared}});
    }
    datasets.push_back(
        {{"dataset", report.dataset},
         {"source", report.source},
         {"rows", report.data.rows},
         {"malformed", report.data.malformed},
         {"malformed_at", report.data.malformed_at},
         {"outside_blocks", report.data.outside_blocks ? Json(*report.data.outside_blocks) : Json()},
         {"without_unit", report.data.without_unit},
         {"over_max_rows", report.data.over_max_rows},
         {"units", report.data.units},
         {"kept", report.data.kept},
         {"rows_declared", report.data.declared.count},
         {"rows_exact", report.data.declared.exact},
         {"beyond_rows_max", report.data.beyond_rows_max},
         {"columns", columns}});
  }
  return pretty({{"ok", true}, {"datasets", datasets}, {"without_source", without_source}});
}

}  // namespace epsilog::command
