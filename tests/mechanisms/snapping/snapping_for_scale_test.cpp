#include "epsilog/mechanisms/snapping_for_scale.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "mechanisms/exact_number.hpp"
#include "support/catch.hpp"
#include "support/reference_table.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

/// What epsilog prints would be cut at its limits; a fraction of the reference has no such limit.
Rational fraction(const std::string& text) {
  Rational value(text);
  value.canonicalize();
  return value;
}

SnappingScale scale_of(const ReferenceRow& row) {
  SnappingScale scale;
  scale.scale = number(row.at("lambda"));
  scale.sensitivity = number(row.at("sensitivity"));
  scale.bound = number(row.at("bound"));
  scale.coordinates = std::stoull(row.at("coordinates"));
  const std::string& asked = row.at("asked");
  if (asked == "exact") scale.arithmetic = Arithmetic::exact;
  if (asked != "exact" && asked != "auto") scale.precision.bits = static_cast<unsigned>(std::stoul(asked));
  return scale;
}

template <class Change>
void refused(const std::string& place, Change change) {
  SnappingScale scale{.scale = 8, .sensitivity = 1, .bound = 100};
  change(scale);
  CHECK_THAT(message_thrown<epsilog::InvalidParameter>([&] { return snapping_of_scale(scale); }),
             Catch::Matchers::StartsWith(place + ":"));
}

}  // namespace

TEST_CASE("snapping scale: loss, precision, grid and accuracy are those of the reference table",
          "[mechanisms][snapping][calibration][reference]") {
  int rows = 0;
  for (const auto& row : reference_table(EPSILOG_SOURCE_DIR "/tests/reference/snapping_scale.csv")) {
    CAPTURE(row.at("lambda"), row.at("asked"), row.at("bound"));
    const SnappingMechanism::Parameters found = snapping_of_scale(scale_of(row));
    CHECK(found.precision == std::stoul(row.at("precision")));
    CHECK(found.scale == fraction(row.at("scale")));
    CHECK(found.adjusted == fraction(row.at("adjusted")));
    CHECK(found.published.has_value() == !row.at("published").empty());
    if (found.published) CHECK(*found.published == fraction(row.at("published")));
    CHECK(found.grid == fraction(row.at("grid")));
    CHECK(found.charged.rational() == fraction(row.at("epsilon")));
    const Rational a = snapping_accuracy_up(found, number(row.at("alpha")));
    const Rational reference = number(row.at("a"));
    CHECK(a >= reference * (1 - power_of_ten(-55)));
    CHECK(a <= reference * (1 + power_of_two(-110)));
    ++rows;
  }
  CHECK(rows == 12);
}

TEST_CASE("snapping scale: a mechanism of the epsilon that is charged has that scale, or a hair less",
          "[mechanisms][snapping][calibration]") {
  for (const char* lambda : {"8", "10", "2.5", "100/3"}) {
    const SnappingScale scale{.scale = number(lambda), .sensitivity = 3, .bound = 1000};
    const SnappingMechanism::Parameters found = snapping_of_scale(scale);
    const SnappingMechanism mechanism({.epsilon = found.charged,
                                       .sensitivity = 3,
                                       .lower = -1000,
                                       .upper = 1000,
                                       .precision = {found.precision}});
    CAPTURE(lambda);
    CHECK(mechanism.parameters().scale <= found.scale);
    CHECK(mechanism.parameters().scale >= found.scale * (1 - power_of_ten(-9)));
    CHECK(mechanism.parameters().grid == found.grid);
  }
}

TEST_CASE("snapping scale: what cannot be proved is refused by name", "[mechanisms][snapping][negative]") {
  refused("lambda", [](SnappingScale& s) { s.scale = 0; });
  refused("lambda", [](SnappingScale& s) { s.scale = -1; });
  refused("sensitivity", [](SnappingScale& s) { s.sensitivity = 0; });
  refused("coordinates", [](SnappingScale& s) { s.coordinates = 0; });
  refused("bound", [](SnappingScale& s) { s.bound = 0; });
  refused("precision", [](SnappingScale& s) { s.precision.bits = 64; });
  refused("precision", [](SnappingScale& s) {
    s.arithmetic = Arithmetic::exact;
    s.precision.bits = 118;
  });
  // Beyond 2^46 lambda nothing is proved in 53 bits.
  refused("bound", [](SnappingScale& s) {
    s.precision.bits = 53;
    s.bound = 8 * power_of_two(46) + 1;
  });
  SnappingScale widest{.scale = 8, .sensitivity = 1, .bound = 8 * power_of_two(46), .precision = {53}};
  CHECK(snapping_of_scale(widest).adjusted > Rational(1, 8));
  refused("precision", [](SnappingScale& s) { s.bound = power_of_two(5000); });
}
