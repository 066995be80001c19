#include "known_features.hpp"

#include <sqlite3.h>

#include <mutex>
#include <set>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/needs_feature.hpp"
#include "feature_of_test.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kFeatures = "SELECT name FROM feature ORDER BY number";

struct FeaturesOfTests {
  std::mutex mutex;  // guards what follows
  std::multiset<std::string> names;
};

FeaturesOfTests& features_of_tests() {
  static FeaturesOfTests features;
  return features;
}

}  // namespace

bool is_known_feature(const std::string& name) {
  FeaturesOfTests& known = features_of_tests();
  const std::lock_guard guard(known.mutex);
  return known.names.contains(name);
}

void require_known_features(Connection& connection, const std::string& database) {
  try {
    Query rows = connection.query(kFeatures);
    while (rows.step()) {
      const std::string name = rows.text(0);
      if (!is_known_feature(name)) throw NeedsFeature("ledger " + database, name);
    }
  } catch (const StorageFailure& failure) {
    // Without the table the schema is not ours: whoever compares schemas says so.
    if ((failure.code() & 0xff) != SQLITE_ERROR) throw;
  }
}

std::optional<std::string> announced_feature(std::string_view line) {
  if (line.find(R"("kind":"feature")") == std::string_view::npos) return std::nullopt;
  try {
    const JsonValue record = parse_canonical(line);
    if (record.at("kind").text() != "feature") return std::nullopt;
    return record.at("name").text();
  } catch (const Error&) {  // no line, which is for the reader of lines to say
    return std::nullopt;
  }
}

void require_known_line(std::string_view line, const std::string& what) {
  const std::optional<std::string> name = announced_feature(line);
  if (name && !is_known_feature(*name)) throw NeedsFeature(what, *name);
}

FeatureOfTest::FeatureOfTest(std::string name) : name_(std::move(name)) {
  FeaturesOfTests& known = features_of_tests();
  const std::lock_guard guard(known.mutex);
  known.names.insert(name_);
}

FeatureOfTest::~FeatureOfTest() {
  FeaturesOfTests& known = features_of_tests();
  const std::lock_guard guard(known.mutex);
  known.names.erase(known.names.find(name_));
}

}  // namespace epsilog::ledger
