// Uses the installed library from end to end: a policy, a new ledger, a plan, a release, a replay, a
// refusal and the audit. Ends with 0 only if every step did what its header says.
//
// usage: consumer DIRECTORY     (empty, writable)
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace {

using epsilog::accounting::Rational;
using epsilog::engine::Engine;
using epsilog::engine::Request;

constexpr const char* kPolicy = R"(version: 1
datasets:
  survey:
    unit: row
    neighbours: add-remove
    budget: {epsilon: 1}
    queries:
      turnout: {bounds: [0, 1000], sensitivity: 1}
)";

void expect(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("not so: ") + what);
}

Request ask(const char* epsilon, const char* key) {
  Request request;
  request.dataset = "survey";
  request.question = epsilog::engine::parse_question("value:turnout", std::nullopt, std::nullopt);
  request.epsilon = epsilog::accounting::parse_rational(epsilon, "epsilon");
  request.principal = "consumer";
  request.key = key;
  request.supplied = "612";
  return request;
}

void run(const std::filesystem::path& directory) {
  const std::string policy = directory / "policy.yaml";
  const std::string path = directory / "survey.ledger";
  std::ofstream(policy) << kPolicy;

  const auto created = Engine::init(policy, path, "consumer");
  Engine engine = Engine::open(path);
  expect(engine.ledger_id() == created.ledger_id, "the opened ledger is the one created");

  epsilog::mechanisms::SystemBits bits;
  const std::vector<Rational> alphas{Rational(1, 20)};
  expect(engine.plan(ask("0.25", ""), alphas).granted, "a quarter of the budget would pass");

  const auto first = engine.release(ask("0.25", "monday"), bits, alphas);
  expect(first.granted && first.values.size() == 1, "a quarter of the budget passes");
  expect(first.values[0] >= -1000 && first.values[0] <= 2000, "the answer is near the declared range");

  const auto again = engine.release(ask("0.25", "monday"), bits, alphas);
  expect(again.replayed && again.values == first.values, "the same key gives the same answer");
  const auto accounts = engine.budget("survey");
  expect(accounts.size() == 1 && accounts[0].balance.spent == 250'000'000'000, "and is charged once");

  const auto refused = engine.release(ask("0.76", "tuesday"), bits, alphas);
  expect(!refused.granted && refused.values.empty(), "more than is left is refused");
  expect(!refused.reasons.empty() && refused.reasons[0].fits == "0.75", "the refusal says what would fit");

  const auto audit = epsilog::engine::audit_verify(path);
  expect(audit.ok && audit.records == 2, "the audit finds two decisions and no fault");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return 1;
  }
  std::puts("consumer: every step did what it says");
  return 0;
}
