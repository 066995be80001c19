#include "metrics.hpp"

namespace epsilog::serve {
namespace {

void add(std::string& text, std::string_view name, std::string_view kind, std::string_view help) {
  text.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text.append("# TYPE ").append(name).append(" ").append(kind).append("\n");
}

void add_value(std::string& text, std::string_view name, std::string_view kind, std::string_view help,
               std::uint64_t value) {
  add(text, name, kind, help);
  text.append(name).append(" ").append(std::to_string(value)).append("\n");
}

void add_gauge(std::string& text, std::string_view name, std::string_view help, std::uint64_t value) {
  add_value(text, name, "gauge", help, value);
}

}  // namespace

void Metrics::count_answer(std::string_view route, int status) {
  const std::scoped_lock lock(mutex_);
  ++answer_counts_[{std::string(route), status}];
}

std::string Metrics::text(const Admission::Figures& admission, std::int64_t decisions, bool poisoned,
                          bool ready) const {
  std::string text;
  add(text, "epsilog_http_requests_total", "counter", "HTTP requests answered, by route and status.");
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [what, count] : answer_counts_) {
      text += "epsilog_http_requests_total{route=\"" + what.first + "\",status=\"" +
              std::to_string(what.second) + "\"} " + std::to_string(count) + "\n";
    }
  }
  add_gauge(text, "epsilog_http_requests_in_flight", "HTTP requests that are being answered.",
            admission.running);
  add_gauge(text, "epsilog_http_requests_queued", "HTTP requests that wait for a place.", admission.waiting);
  add_gauge(text, "epsilog_long_polls", "Requests that wait for something to happen.", admission.long_polls);
  add_gauge(text, "epsilog_http_body_bytes", "Bytes that bodies of HTTP requests hold.",
            admission.body_bytes);
  add_gauge(text, "epsilog_http_bodies_queued", "Bodies that wait for memory before more of them is read.",
            admission.bodies_waiting);
  add_value(text, "epsilog_decisions_total", "counter", "Decisions on record.",
            static_cast<std::uint64_t>(decisions));
  add_gauge(text, "epsilog_ledger_poisoned", "1 while the ledger waits to be recovered.", poisoned ? 1 : 0);
  add_gauge(text, "epsilog_ready", "1 while a release would be recorded, as /readyz says.", ready ? 1 : 0);
  return text;
}

}  // namespace epsilog::serve
