#include "list_page.hpp"

#include <algorithm>
#include <utility>

#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using wire::Json;

/// On one line, without the line's end.
std::string compact_json(const Json& object) {
  std::string text = wire::one_object(object, -1);
  text.pop_back();
  return text;
}

}  // namespace

std::size_t cell_count(const engine::Answer& answer) {
  const std::size_t cells = static_cast<std::size_t>(answer.planned.record.cells.size());
  return std::max({answer.rows_count, cells, std::size_t{1}});
}

ListPage::ListPage(const Call& call, const std::string& name, wire::AnswerKind kind)
    : call_(call),
      kind_(kind),
      text_("{\"ledger_id\":" + compact_json(Json(call.context.ledger_id)) + ",\"" + name + "\":[") {}

bool ListPage::add(const engine::Answer& answer) {
  cells_ += cell_count(answer);
  if (const auto visible = answer_as_seen(call_.caller, answer)) {
    if (!std::exchange(first_, false)) text_ += ',';
    text_ += compact_json(wire::answer_object(*visible, kind_));
  }
  return cells_ < kPageCells && text_.size() < kPageBytes;
}

Response ListPage::finish(const Json& members) {
  text_ += ']';
  for (const auto& [name, value] : members.items()) text_ += ",\"" + name + "\":" + compact_json(value);
  return json_text_response(200, std::move(text_) + "}\n");
}

}  // namespace epsilog::serve
