// Targets of requests: each is read as one path, or refused.
#include "request_target.hpp"

#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using serve::RequestTarget;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::optional<RequestTarget> target_of(std::string_view text, std::size_t parameters_max = 32) {
  RequestTarget target;
  const auto fault = serve::read_target(text, parameters_max, target);
  if (fault) {
    CHECK(fault->status == 400);
    CHECK(fault->code == "malformed_request");
    return std::nullopt;
  }
  return target;
}

std::string percent(int byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'%', kDigits[static_cast<std::size_t>(byte) / 16], kDigits[static_cast<std::size_t>(byte) % 16]};
}

}  // namespace

TEST_CASE("a target: its path is decoded once and its parameters stay in order", "[serve][http][target]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/http/good_targets.tsv")) {
    const std::string& text = row.at(0);
    Pairs pairs;
    for (std::size_t i = 2; i + 1 < row.size(); i += 2) pairs.emplace_back(row[i], row[i + 1]);
    INFO(text);
    const auto target = target_of(text);
    REQUIRE(target);
    CHECK(target->path == row.at(1));
    CHECK(target->query == pairs);
  }
}

TEST_CASE("a target: another form, or what is no path in normal form, is refused", "[serve][http][target]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/http/bad_targets.tsv")) {
    const std::string& text = row.at(0);
    INFO(text);
    CHECK(!target_of(text));
  }
}

TEST_CASE("a target: a control character is refused wherever it is encoded", "[serve][http][target]") {
  for (int byte = 0; byte < 0x80; ++byte) {
    const bool control = byte < 0x20 || byte == 0x7F;
    INFO(byte);
    CHECK(target_of("/a" + percent(byte) + "b").has_value() == (!control && byte != '/'));
    CHECK(target_of("/v1/x" + percent(byte)).has_value() == (!control && byte != '/'));
    CHECK(target_of("/?n=" + percent(byte)).has_value() == !control);
    CHECK(target_of("/?" + percent(byte) + "=1").has_value() == !control);
  }
}

TEST_CASE("a target: each printable character stands for itself or is refused", "[serve][http][target]") {
  const std::string_view kept = "ABCxyz019-._~!$&'()*+,;=:@";
  for (char c = ' '; c <= '~'; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (c == '/' || c == '?' || c == '%') continue;
    const std::string path = std::string("/x") + c + "y";
    INFO(path);
    const auto target = target_of(path);
    CHECK(target.has_value() == (letter || kept.find(c) != std::string_view::npos));
    if (target) CHECK(target->path == path);
  }
}

TEST_CASE("a target: there is a limit to how many parameters it has", "[serve][http][target]") {
  std::string text = "/?p0=";
  for (int i = 1; i < 32; ++i) text += "&p" + std::to_string(i) + "=";
  REQUIRE(target_of(text));
  CHECK(target_of(text)->query.size() == 32);
  CHECK(!target_of(text + "&q="));
  CHECK(target_of("/?a=1", 1));
  CHECK(!target_of("/?a=1&b=2", 1));
}
