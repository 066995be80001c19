// What was typed, as plain values: texts are not interpreted here.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace epsilog::command {

enum class Verb {
  init,
  policy_check,
  policy_show,
  policy_apply,
  policy_diff,
  policy_import,
  policy_draft,
  data_check,
  plan,
  forecast,
  release,
  reserve,
  commit,
  cancel,
  token,
  pending,
  approve,
  reject,
  budget,
  history,
  show,
  audit_verify,
  audit_reaccount,
  audit_replay,
  recover,
  migrate,
  clock_confirm,
  relocate,
  accuracy_snapping,
  accuracy_discrete_gaussian,
  accuracy_discrete_laplace,
  calibrate_snapping,
  calibrate_gaussian,
  tolerance_laplace,
  tolerance_gaussian,
  tolerance_mean,
  compose,
};

struct Arguments {
  Verb verb = Verb::init;

  std::optional<std::string> policy_file;
  std::optional<std::string> later_policy_file;
  std::optional<std::string> metadata_file;
  std::optional<std::string> dataset;
  std::optional<std::string> statistic;
  std::optional<std::string> decision_id;

  std::optional<std::string> policy;
  std::optional<std::string> ledger;
  std::optional<std::string> wait;
  std::optional<std::string> principal;
  std::optional<std::string> purpose;
  std::optional<std::string> why;
  std::optional<std::string> source;
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
  std::optional<std::string> rho;
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
  std::optional<std::string> at;
  std::optional<std::string> accuracy;
  std::optional<std::string> scale;
  std::optional<std::string> lambda;
  std::optional<std::string> sigma;
  std::optional<std::string> l1;
  std::optional<std::string> l2;
  std::optional<std::string> flakiness;
  std::optional<std::string> partitions;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
  std::optional<std::string> sum;
  std::optional<std::string> count;
  std::optional<std::string> max_rows;
  std::optional<std::string> batch;
  std::optional<std::string> accountant;
  std::optional<std::string> from;
  std::optional<std::string> from_csv;
  std::optional<std::string> dataset_name;
  std::optional<std::string> output;
  std::vector<std::string> alphas;
  std::vector<std::string> mechanisms;
  bool integer = false;
  bool scopes = false;
  bool data_token = false;

  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

}  // namespace epsilog::command
