// The text of a request, taken apart and put together again.
#include "request_text.hpp"

#include "epsilog/ledger/json_writer.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using ledger::request_of;
using ledger::request_parts;
using ledger::RequestParts;
using ledger::ReservationKind;

namespace {

const std::string kParent = "01JN8S7QG06QN7S4B91DZ610JT";

std::string any_text(std::mt19937_64& random) {
  static const std::vector<std::string> kPieces{"a", "count", " ", "\"",   "\\", "\n", "\x01", "{",
                                                "}", "[",     "]", ",",    ":",  "ä",  "€",    "😀",
                                                "0", "1.5",   "/", "\x7f", "{}", "[\""};
  std::string text;
  for (auto n = random() % 6; n > 0; --n) text += kPieces[random() % kPieces.size()];
  return text;
}

void write_any(ledger::JsonWriter& json, std::mt19937_64& random, int depth);

void write_object(ledger::JsonWriter& json, std::mt19937_64& random, int depth) {
  static const std::vector<std::string> kNames{"by",           "column",    "conflicting", "conflicting_keys",
                                               "dataset",      "decision",  "epsilon",     "purposes",
                                               "reservations", "statistic", "verb",        "where",
                                               "why"};
  std::map<std::string, int> names;
  for (auto n = random() % 5; n > 0; --n) names[kNames[random() % kNames.size()]] = 0;
  json.raw("{");
  for (const auto& [name, unused] : names) {
    static_cast<void>(unused);
    json.field(name);
    write_any(json, random, depth + 1);
  }
  json.raw("}");
}

void write_any(ledger::JsonWriter& json, std::mt19937_64& random, int depth) {
  switch (random() % (depth > 3 ? 3 : 5)) {
    case 0:
      json.text(any_text(random));
      return;
    case 1:
      json.count(random() % 2 == 0 ? random() % 10 : ledger::kJsonCountMax - random() % 10);
      return;
    case 2:
      json.raw(random() % 2 == 0 ? "true" : "false");
      return;
    case 3:
      write_object(json, random, depth);
      return;
    default:
      json.array(std::vector<int>(random() % 4), [&](int) { write_any(json, random, depth + 1); });
  }
}

RequestParts any_parts(std::mt19937_64& random) {
  RequestParts parts;
  ledger::JsonWriter question;
  write_object(question, random, 0);
  parts.question = question.take();
  if (random() % 2 == 0) parts.purpose = any_text(random);
  if (random() % 2 == 0) parts.conflicting_key = any_text(random);
  parts.reservation_kind = static_cast<ReservationKind>(random() % 3);
  return parts;
}

}  // namespace

TEST_CASE("request text: what is a decision's own is taken out of the question", "[ledger][request]") {
  CHECK(request_parts(R"({"statistic":"count"})", "") ==
        RequestParts{.question = R"({"statistic":"count"})"});
  CHECK(request_parts("{}", "") == RequestParts{.question = "{}"});
  CHECK(
      request_parts(
          R"({"a":["purpose"],"conflicting_key":"k","purpose":"c\"a,r}e","reservation":"plain","where":{"purpose":"x"}})",
          "") == RequestParts{.question = R"({"a":["purpose"],"where":{"purpose":"x"}})",
                              .purpose = "c\"a,r}e",
                              .reservation_kind = ReservationKind::plain,
                              .conflicting_key = "k"});
  CHECK(request_parts(R"({"reservation":"data_token"})", "") ==
        RequestParts{.question = "{}", .reservation_kind = ReservationKind::data_token});
}

TEST_CASE("request text: an act has a verb and perhaps a reason, and is about its parent",
          "[ledger][request]") {
  const std::string act = R"({"decision":")" + kParent + R"(","verb":"cancel"})";
  const std::string with_why = R"({"decision":")" + kParent + R"(","verb":"cancel","why":"no longer"})";
  CHECK(request_parts(act, kParent) == RequestParts{.verb = "cancel"});
  CHECK(request_parts(with_why, kParent) == RequestParts{.verb = "cancel", .why = "no longer"});
  CHECK(request_of({.verb = "cancel", .why = "no longer"}, kParent) == with_why);
  CHECK_FALSE(request_parts(act, "01JN8S7QG06QN7S4B91DZ610JV"));  // of another decision
  CHECK_FALSE(request_parts(R"({"decision":")" + kParent + R"(","verb":"cancel","why":""})", kParent));
  CHECK_FALSE(request_parts(R"({"decision":")" + kParent + R"(","verb":"cancel","x":1})", kParent));
  CHECK_FALSE(request_parts(R"({"decision":")" + kParent + R"(","verb":5})", kParent));
  // Without a parent these are names as any other.
  CHECK(request_parts(act, "") == RequestParts{.question = act});
}

TEST_CASE("request text: what would not come out as it is, is kept", "[ledger][request][negative]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/no_requests.tsv")) {
    const std::string& text = row.at(0);
    CAPTURE(text);
    CHECK_FALSE(request_parts(text, ""));
    CHECK_FALSE(request_parts(text, kParent));
  }
}

TEST_CASE(
    "request text: any canonical request comes out again to the byte, and its parts are taken out of it",
    "[ledger][request][property]") {
  constexpr int kRequests = 20'000;
  std::mt19937_64 random(20'261'122);
  int with_own = 0;
  for (int i = 0; i < kRequests; ++i) {
    const RequestParts parts = any_parts(random);
    const std::string text = request_of(parts, "");
    CAPTURE(text);
    const auto read = request_parts(text, "");
    REQUIRE(read);
    REQUIRE(*read == parts);
    REQUIRE(request_of(*read, "") == text);
    with_own += text == parts.question ? 0 : 1;
  }
  CHECK(with_own > kRequests / 2);
}

TEST_CASE("request text: whatever is taken apart comes out as it was, of any bytes",
          "[ledger][request][property]") {
  constexpr int kTexts = 50'000;
  std::mt19937_64 random(20'261'123);
  int parted = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text = request_of(any_parts(random), "");
    if (i % 3 == 0) text = request_of({.verb = "commit", .why = any_text(random)}, kParent);
    static constexpr std::string_view kBytes = "{}[]\",:\\ a09e.-\xff\n";
    for (auto n = random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) text[at] = kBytes[random() % kBytes.size()];
      if (random() % 3 == 0) text.erase(at, 1);
      if (text.empty()) text = "{";
    }
    for (const std::string& parent : {std::string(), kParent}) {
      const auto parts = request_parts(text, parent);
      if (!parts) continue;
      ++parted;
      CAPTURE(text);
      REQUIRE(request_of(*parts, parent) == text);
    }
  }
  CHECK(parted > kTexts / 4);
}
