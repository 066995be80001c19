// Lines of records: what is written is read, and nothing else is.
#include "records.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/digest.hpp"
#include "ledger/support/random_records.hpp"
#include "ledger/support/sample_records.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using namespace epsilog::ledger;
using epsilog::InvalidParameter;
using epsilog::LedgerCorrupt;
using epsilog::accounting::PostProcessing;
using epsilog::accounting::Rational;

TEST_CASE("records: a line of each kind, with little and with much in it, comes out again to the byte",
          "[ledger][record][exact]") {
  const auto rows = epsilog::test::case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/sample_records.tsv");
  auto row = rows.begin();
  for (const auto& records : {minimal_records(), full_records()}) {
    CHECK(records.size() == std::variant_size_v<Record>);
    for (std::size_t i = 0; i < records.size(); ++i, ++row) {
      INFO(row->at(2));
      CHECK(records.at(i).line.record.index() == i);
      CHECK_NOTHROW(parse_canonical(row->at(2)));
      CHECK(line_text(records.at(i).line, sample_decimals) == row->at(2));
    }
  }
}

TEST_CASE("records: 30,000 random lines, seeds 1 to 30,000, come out again, as values and to the byte",
          "[ledger][record][random]") {
  constexpr std::uint64_t kLines = 30'000;
  std::array<int, std::variant_size_v<Record>> seen{};
  for (std::uint64_t seed = 1; seed <= kLines; ++seed) {
    const Line line = random_line(seed);
    const std::string text = line_text(line, sample_decimals);
    const Line read = parse_line(text, sample_decimals);
    const bool same = read.index == line.index && read.blind == line.blind &&
                      same_record(read.record, line.record) && line_text(read, sample_decimals) == text;
    if (!same) FAIL("seed " << seed << ": " << text);
    static_cast<void>(parse_canonical(text));
    ++seen.at(line.record.index());
  }
  CHECK(*std::min_element(seen.begin(), seen.end()) > 1'000);
}

TEST_CASE("records: a line in which bytes were changed is refused, or comes out as it is",
          "[ledger][record][random][negative]") {
  constexpr std::uint64_t kLines = 4'000;  // seeds 1 to 4,000, each changed ten times
  constexpr std::string_view kBytes = "\"\\{}[]:,0123456789-abcdefnrt\xFF\x01 .uEF";
  std::mt19937_64 random(20'261'122);
  const auto below = [&random](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  int refused = 0;
  int read = 0;
  for (std::uint64_t seed = 1; seed <= kLines; ++seed) {
    const std::string text = line_text(random_line(seed), sample_decimals);
    for (int change = 0; change < 10; ++change) {
      std::string changed = text;
      const std::size_t at = below(text.size());
      const std::size_t kind = below(4);
      if (kind == 0) changed.at(at) = kBytes.at(below(kBytes.size()));
      if (kind == 1) changed.erase(at, 1 + below(3));
      if (kind == 2) changed.insert(at, 1, kBytes.at(below(kBytes.size())));
      if (kind == 3) changed.replace(at, below(30), text.substr(below(text.size()), below(30)));
      try {
        if (line_text(parse_line(changed, sample_decimals), sample_decimals) != changed) {
          FAIL("read, and written otherwise: " << changed);
        }
        static_cast<void>(parse_canonical(changed));
        ++read;
      } catch (const LedgerCorrupt&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 20'000);
  CHECK(read > 1'000);
}

TEST_CASE("records: what has to be UTF-8, a canonical object or within its range is not written otherwise",
          "[ledger][record][negative]") {
  const auto refused = [](const Record& record) {
    CHECK_THROWS_AS(line_text({.index = 0, .record = record}, sample_decimals), InvalidParameter);
  };
  for (const SampleRecord& sample : full_records()) {
    if (const auto* full = std::get_if<DecisionRecord>(&sample.line.record)) {
      DecisionRecord decision = *full;
      decision.reasons = "\xFF";
      refused(decision);
      decision = *full;
      decision.via = "unix:\xFF";
      refused(decision);
      decision = *full;
      decision.seq = -1;
      refused(decision);
      decision = *full;
      decision.plan = std::int64_t{1} << 53;
      refused(decision);
      decision = *full;
      decision.outcome = static_cast<Outcome>(99);
      refused(decision);
      decision = *full;
      decision.movements.front().balance.spent = -1;
      refused(decision);
      decision.movements.front().balance.spent = (std::int64_t{1} << 61) + 1;
      refused(decision);
    }
    if (const auto* full = std::get_if<PlanRecord>(&sample.line.record)) {
      PlanRecord plan = *full;
      for (const char* question : {"[]", "{ }", R"({"b":0,"a":0})", "nothing"}) {
        plan.question = question;
        refused(plan);
      }
    }
    if (const auto* full = std::get_if<AccountRecord>(&sample.line.record)) {
      AccountRecord account = *full;
      account.name.measure = "gamma";
      refused(account);
    }
  }
}

TEST_CASE("records: what stands in a line counts as deep as it stands there", "[ledger][record][negative]") {
  PlanRecord plan{.number = 1, .policy_version = 1, .question = "", .first_at = "2026-01-31T23:59:59.999Z"};
  const auto nested = [](unsigned arrays) {
    return R"({"a":)" + std::string(arrays, '[') + std::string(arrays, ']') + "}";
  };
  constexpr unsigned kArrays = kLineDepthMax - 2;  // beside the line and the object
  plan.question = nested(kArrays);
  const std::string line = line_text({.index = 0, .record = plan}, sample_decimals);
  CHECK(line_text(parse_line(line, sample_decimals), sample_decimals) == line);
  static_cast<void>(parse_canonical(line));
  std::string deeper = line;
  deeper.replace(deeper.find(plan.question), plan.question.size(), nested(kArrays + 1));
  CHECK_THROWS_AS(parse_line(deeper, sample_decimals), LedgerCorrupt);
  CHECK_THROWS_AS(parse_canonical(deeper), LedgerCorrupt);
  plan.question = nested(kArrays + 1);
  CHECK_THROWS_AS(line_text({.index = 0, .record = plan}, sample_decimals), InvalidParameter);
}

TEST_CASE("records: a plan is found by its policy version, question and release alone",
          "[ledger][record][exact]") {
  const SampleRecord sample = full_records().at(static_cast<std::size_t>(RecordKind::plan));
  const PlanRecord plan = std::get<PlanRecord>(sample.line.record);
  const std::string digested = R"({"policy_version":)" + std::to_string(plan.policy_version) +
                               R"(,"question":)" + plan.question + R"(,"release":)" + release_text(plan) +
                               "}";
  const Sha256 digest = plan_digest(plan);
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex += "0123456789abcdef"[byte / 16];
    hex += "0123456789abcdef"[byte % 16];
  }
  CHECK(hex == epsilog::ledger::sha256_hex(digested));
  PlanRecord other = plan;
  other.number = 99;
  other.first_at = "2027-01-31T23:59:59.999Z";
  CHECK(plan_digest(other) == digest);
  other.policy_version = 4;
  CHECK(plan_digest(other) != digest);
  other = plan;
  other.question = "{}";
  CHECK(plan_digest(other) != digest);
  other = plan;
  other.release->components.front().scale += 1;
  CHECK(plan_digest(other) != digest);
  other = plan;
  other.release.reset();
  CHECK(plan_digest(other) != digest);
}

TEST_CASE("records: the release of a plan is read from its member alone", "[ledger][record][exact]") {
  int releases = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    const Line line = random_line(seed);
    const auto* plan = std::get_if<PlanRecord>(&line.record);
    if (plan == nullptr) continue;
    const std::string text = release_text(*plan);
    CHECK(text.empty() == !plan->release.has_value());
    PlanRecord read = *plan;
    read.release.emplace().mechanism = "another";
    read.post_processing.kind = PostProcessing::Kind::rounded;
    read.post_processing.upper = 7;
    parse_release_text(text, read);
    if (!(read == *plan)) FAIL("seed " << seed << ": " << text);
    if (text.empty()) continue;
    ++releases;
    CHECK(line_text(line, sample_decimals).find(R"("release":)" + text) != std::string::npos);
    CHECK_THROWS_AS(parse_release_text(text + " ", read), LedgerCorrupt);
    CHECK_THROWS_AS(parse_release_text(text.substr(0, text.size() - 1), read), LedgerCorrupt);
  }
  CHECK(releases > 100);
}

TEST_CASE("records: outcomes stand in lines as everywhere else", "[ledger][record][exact]") {
  const SampleRecord sample = minimal_records().at(static_cast<std::size_t>(RecordKind::decision));
  for (int outcome = 0; outcome < 9; ++outcome) {
    DecisionRecord decision = std::get<DecisionRecord>(sample.line.record);
    decision.outcome = static_cast<Outcome>(outcome);
    const std::string line = line_text({.index = 0, .record = decision}, sample_decimals);
    CHECK(parse_canonical(line).at("outcome").text() == outcome_name(decision.outcome));
  }
}
