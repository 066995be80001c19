// What was typed, as plain values: texts are not interpreted here.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace epsilog::command {

enum class Verb {
  init,
  policy_check,
  policy_show,
  policy_apply,
  data_check,
  plan,
  release,
  budget,
  history,
  show,
  audit_verify,
  recover,
  accuracy_snapping,
};

struct Arguments {
  Verb verb = Verb::init;

  std::optional<std::string> policy_file;
  std::optional<std::string> dataset;
  std::optional<std::string> statistic;
  std::optional<std::string> decision_id;

  std::optional<std::string> policy;
  std::optional<std::string> ledger;
  std::optional<std::string> wait;
  std::optional<std::string> principal;
  std::optional<std::string> why;
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
  std::optional<std::string> by;
  std::optional<std::string> where;
  std::optional<std::string> value;
  std::optional<std::string> key;
  std::optional<std::string> limit;
  std::optional<std::string> sensitivity;
  std::optional<std::string> bound;
  std::optional<std::string> arithmetic;
  std::optional<std::string> precision;
  std::optional<std::string> coordinates;
  std::vector<std::string> alphas;

  bool json = false;
  bool quiet = false;
};

/// The command line itself is wrong. The message names the flag or word.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace epsilog::command
