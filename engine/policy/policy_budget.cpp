// Amounts of privacy loss in their four measures: `budget`, `lifetime`, and those of `limits`; and those of
// one release, `per_release` and `above`.
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

constexpr std::size_t kOrdersMax = 16;
constexpr long kOrderMax = 1'000'000;

/// zcdp_rho_down, remembered: it takes milliseconds, and limits tend to repeat the same guarantee.
Rational rho_down(const accounting::ApproximateLoss& target) {
  static std::mutex mutex;
  static std::map<std::pair<Epsilon, Delta>, Rational> known;
  constexpr std::size_t kKnownMax = 4096;
  const std::pair key(target.epsilon, target.delta);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  Rational rho = accounting::zcdp_rho_down(target.epsilon.rational(), target.delta.rational());
  const std::lock_guard lock(mutex);
  if (known.size() < kKnownMax) known.emplace(key, rho);
  return rho;
}

/// Which of the keys of an amount were written; what they must be together depends on the measure.
class Amount final {
 public:
  Amount(const Fields& fields, Faults& faults) : fields_(fields), faults_(faults) {}

  Budget decode() {
    const Node* written = fields_["measure"];
    if (written == nullptr && fields_.has("measure")) return {};
    std::optional<Measure> measure = fields_.has("delta") ? Measure::approximate : Measure::pure;
    if (written != nullptr) measure = decode_measure(*written);
    // What else may be written depends on the measure, so without one nothing more can be said.
    if (!measure) return {};
    Budget budget;
    budget.measure = *measure;
    switch (*measure) {
      case Measure::pure:
      case Measure::approximate:
        decode_epsilon_delta(budget);
        break;
      case Measure::zcdp:
        decode_zcdp(budget);
        break;
      case Measure::rdp:
        decode_rdp(budget);
        break;
    }
    return budget;
  }

  std::optional<LossCap> decode_cap() {
    LossCap cap;
    if (const Node* node = fields_["epsilon"]) {
      cap.epsilon = amount_of<Epsilon>(*node, fields_.path("epsilon"), faults_);
    }
    if (fields_.has("delta")) {
      if (const Delta read = delta(); read != Delta{}) cap.delta = read;
    }
    if (const Node* node = fields_["rho"]) cap.rho = amount_of<Rho>(*node, fields_.path("rho"), faults_);
    if (const Node* node = fields_["orders"]) cap.orders = decode_orders(*node);
    const bool none =
        fields_.lacks("epsilon") && fields_.lacks("delta") && fields_.lacks("rho") && fields_.lacks("orders");
    if (none) {
      fault(fields_.owner(), fields_.path(""),
            "say how much: epsilon: E, delta: D, rho: R or orders: {ORDER: DIVERGENCE}, one or more");
    }
    const bool empty = !cap.epsilon && !cap.delta && !cap.rho && cap.orders.empty();
    return empty ? std::nullopt : std::optional(cap);
  }

 private:
  void fault(const Mark& mark, const std::string& path, const std::string& message) {
    faults_.add(mark, path + ": " + message);
  }

  std::optional<Measure> decode_measure(const Node& node) {
    if (node.kind == Node::Kind::scalar && (node.text == "pld" || node.text == "optimal")) {
      fault(node.mark, fields_.path("measure"),
            quoted_excerpt(node.text) +
                " bounds a schedule fixed in advance and cannot be a budget for releases chosen one by one; "
                "write zcdp or rdp");
      return std::nullopt;
    }
    return word_of(node, keys::measures, fields_.path("measure"), faults_);
  }

  /// Reports a key that the measure does not have.
  void refuse(std::string_view key, std::string_view its_measure) {
    if (!fields_.has(key)) return;
    const std::string measure(its_measure);
    fault(fields_.mark_of(key), fields_.path(key),
          "only measure: " + measure + " has it; write measure: " + measure + " or remove it");
  }

  Epsilon epsilon() {
    const Node* node = fields_["epsilon"];
    if (node == nullptr) return {};
    return amount_of<Epsilon>(*node, fields_.path("epsilon"), faults_).value_or(Epsilon{});
  }

  Delta delta() {
    const Node* node = fields_["delta"];
    if (node == nullptr) return {};
    const auto amount = amount_of<Delta>(*node, fields_.path("delta"), faults_);
    if (amount && amount->rational() == 1) {
      fault(node->mark, fields_.path("delta"), "a delta of 1 protects nobody; it must be below 1");
      return {};
    }
    return amount.value_or(Delta{});
  }

  void decode_epsilon_delta(Budget& budget) {
    refuse("rho", "zcdp");
    refuse("orders", "rdp");
    refuse("order", "rdp");
    const bool of_another_measure = fields_.has("rho") || fields_.has("orders");
    if (fields_.lacks("epsilon") && !of_another_measure) {
      fault(fields_.owner(), fields_.path(""), "the key 'epsilon' is missing; write epsilon: E");
    }
    budget.epsilon = epsilon();
    budget.delta = delta();
    if (budget.measure == Measure::pure && fields_.has("delta")) {
      fault(fields_["measure"]->mark, fields_.path("measure"),
            "pure has no delta; remove delta or write approximate");
    }
    if (budget.measure == Measure::approximate && fields_.lacks("delta")) {
      fault(fields_["measure"]->mark, fields_.path("measure"),
            "approximate needs a delta; add delta or write pure");
    }
  }

  /// The (epsilon, delta) from which the amount of another measure follows; nothing after a fault.
  std::optional<accounting::ApproximateLoss> decode_target() {
    for (const std::string_view key : {"epsilon", "delta"}) {
      if (!fields_.lacks(key)) continue;
      fault(fields_.owner(), fields_.path(""),
            "the amount follows from epsilon and delta together; add " + std::string(key));
    }
    const accounting::ApproximateLoss target(epsilon(), delta());
    if (target.epsilon == Epsilon{} || target.delta == Delta{}) return std::nullopt;
    return target;
  }

  void decode_zcdp(Budget& budget) {
    refuse("orders", "rdp");
    refuse("order", "rdp");
    const bool targeted = fields_.has("epsilon") || fields_.has("delta");
    if (const Node* rho = fields_["rho"]) {
      budget.rho = amount_of<Rho>(*rho, fields_.path("rho"), faults_).value_or(Rho{});
      if (targeted) {
        fault(rho->mark, fields_.path("rho"),
              "it follows from epsilon and delta; write either rho or these two");
      }
      return;
    }
    if (targeted) {
      budget.target = decode_target();
      if (budget.target) budget.rho = rho_of(*budget.target);
      return;
    }
    if (fields_.lacks("rho") && fields_.lacks("epsilon") && fields_.lacks("delta")) {
      fault(fields_.owner(), fields_.path(""),
            "measure zcdp needs rho: R, or epsilon: E and delta: D from which it follows");
    }
  }

  Rho rho_of(const accounting::ApproximateLoss& target) {
    const Rational exact = rho_down(target);
    const std::string gives =
        "epsilon " + target.epsilon.text() + " and delta " + target.delta.text() + " give a rho ";
    try {
      const Rho rho = Rho::from_rational_down(exact);
      if (rho == Rho{}) {
        fault(fields_.owner(), fields_.path(""),
              gives + "below the smallest amount kept, " + Rho::from_units(1).text() + "; raise them");
      }
      return rho;
    } catch (const InvalidParameter&) {
      fault(fields_.owner(), fields_.path(""), gives + "above the largest amount kept; lower epsilon");
      return {};
    }
  }

  void decode_rdp(Budget& budget) {
    refuse("rho", "zcdp");
    if (fields_.has("orders")) {
      for (const std::string_view key : {"order", "epsilon", "delta"}) {
        if (!fields_.has(key)) continue;
        fault(fields_.mark_of(key), fields_.path(key),
              "orders states the divergences themselves; remove " + std::string(key) + " or orders");
      }
      if (const Node* orders = fields_["orders"]) budget.orders = decode_orders(*orders);
      return;
    }
    if (fields_.has("order")) {
      budget.target = decode_target();
      const Node* node = fields_["order"];
      const auto order = node != nullptr ? order_of(*node, fields_.path("order")) : std::nullopt;
      if (order && budget.target) budget.orders = {{*order, divergence_of(*order, *budget.target, *node)}};
      return;
    }
    if (fields_.lacks("orders") && fields_.lacks("order")) {
      fault(fields_.owner(), fields_.path(""),
            "measure rdp needs orders: {ORDER: DIVERGENCE}, every one of which must hold, or order: A, "
            "epsilon: E and delta: D from which its divergence follows");
    }
  }

  Epsilon divergence_of(const Rational& order, const accounting::ApproximateLoss& target, const Node& at) {
    const std::string path = fields_.path("order");
    try {
      const Epsilon divergence = Epsilon::from_rational_down(
          accounting::renyi_divergence_down(order, target.epsilon.rational(), target.delta.rational()));
      if (divergence > Epsilon{}) return divergence;
    } catch (const InvalidParameter&) {
      // Reported below: the order takes all of epsilon.
    }
    fault(at.mark, path,
          "at order " + accounting::text(order) + " nothing is left of epsilon " + target.epsilon.text() +
              " with delta " + target.delta.text() + "; raise the order, epsilon or delta");
    return {};
  }

  std::optional<Rational> order_of(const Node& node, const std::string& what) {
    const std::optional<Rational> order = number_of(node, what, faults_);
    if (!order) return std::nullopt;
    if (*order > 1 && *order <= kOrderMax && order->get_den() <= kOrderMax) return order;
    fault(node.mark, what,
          quoted_excerpt(node.text) +
              " is not an order: write a number above 1, at most 1000000, with a denominator of at most "
              "1000000");
    return std::nullopt;
  }

  std::vector<RenyiLimit> decode_orders(const Node& node) {
    const std::string what = fields_.path("orders");
    std::vector<RenyiLimit> orders;
    if (!expect(node, Node::Kind::map, what, "a map of divergences by order, {2: 0.5, 8: 1.5}", faults_)) {
      return orders;
    }
    if (node.entries.empty() || node.entries.size() > kOrdersMax) {
      fault(node.mark, what,
            std::to_string(node.entries.size()) + " orders; list from 1 to " + std::to_string(kOrdersMax));
    }
    for (const yaml::Entry& entry : node.entries) {
      Node key;
      key.kind = Node::Kind::scalar;
      key.mark = entry.mark;
      key.text = entry.key;
      const std::optional<Rational> order = order_of(key, what);
      if (!order) continue;
      const auto divergence = amount_of<Epsilon>(entry.value, what + "." + entry.key, faults_);
      if (!divergence) continue;
      const bool twice = std::any_of(orders.begin(), orders.end(),
                                     [&](const RenyiLimit& other) { return other.order == *order; });
      if (twice) fault(entry.mark, what, "the order " + quoted_excerpt(entry.key) + " is listed twice");
      orders.push_back({*order, *divergence});
    }
    std::sort(orders.begin(), orders.end(),
              [](const RenyiLimit& a, const RenyiLimit& b) { return a.order < b.order; });
    return orders;
  }

  const Fields& fields_;
  Faults& faults_;
};

}  // namespace

Budget decode_amount(const Fields& fields, Faults& faults) {
  return Amount(fields, faults).decode();
}

std::optional<LossCap> decode_cap(const Fields& fields, Faults& faults) {
  return Amount(fields, faults).decode_cap();
}

std::optional<CalendarPeriod> period_kind_of(const Node& node, const std::string& what, Faults& faults) {
  return word_of(node, keys::periods, what, faults);
}

void decode_budget(const Node& node, const Mark& owner, Dataset& dataset, SectionMarks& marks,
                   Faults& faults) {
  const Fields fields(node, keys::budget, "budget", owner, faults);
  if (node.kind != Node::Kind::map) return;
  dataset.budget = decode_amount(fields, faults);
  marks.renew = fields.mark_of("renew");
  if (const Node* renew = fields["renew"]) dataset.renews = period_kind_of(*renew, "budget.renew", faults);
  const Node* accepted = fields["accept_unbounded_lifetime"];
  if (accepted == nullptr) return;
  marks.accepts_unbounded_lifetime = fields.mark_of("accept_unbounded_lifetime");
  dataset.accepts_unbounded_lifetime =
      truth_of(*accepted, "budget.accept_unbounded_lifetime", faults).value_or(false);
}

Budget decode_lifetime(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::lifetime, "lifetime", owner, faults);
  return node.kind == Node::Kind::map ? decode_amount(fields, faults) : Budget{};
}

}  // namespace epsilog::engine
