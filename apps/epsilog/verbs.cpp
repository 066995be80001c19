#include "verbs.hpp"

#include <algorithm>
#include <string>

#include "calculator_verbs.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/audit_limits.hpp"

namespace epsilog::command {
namespace {

/// With the columns that no audit of the file alone can vouch for.
std::string_view verify_details() {
  static const std::string kDetails = [] {
    std::string text =
        "Recomputes balances from the charges, and decides every decision again under its own version of\n"
        "the policy. Exit code 6: something was changed, removed, reordered, inserted or damaged.\n"
        "\n"
        "Nothing in the file shows another value of these, one at a time; a copy kept elsewhere does:";
    std::size_t width = 0;
    for (const auto& anchored : engine::anchored_columns()) width = std::max(width, anchored.column.size());
    for (const auto& anchored : engine::anchored_columns()) {
      text += "\n  " + std::string(anchored.column) + std::string(width + 2 - anchored.column.size(), ' ') +
              std::string(anchored.what);
    }
    return text;
  }();
  return kDetails;
}

const PositionalSpec kDataset{"DATASET", true, "name of a dataset in the policy", &Arguments::dataset};
const PositionalSpec kAnyDataset{"DATASET", false, "only this dataset (default: all)", &Arguments::dataset};
const PositionalSpec kStatistic{
    "STAT[:COLUMN]", true,
    "count, units, sum:C, mean:C, variance:C, histogram:C (= count --by C), value:NAME",
    &Arguments::statistic};
const PositionalSpec kRequestId{"ID", true, "the id that reserve or release printed, or how it begins",
                                &Arguments::decision_id};
const PositionalSpec kPolicyFile{"POLICY", false, "the policy file (or --policy POLICY)",
                                 &Arguments::policy_file};

std::vector<OptionSpec> make_options() {
  return {
      {"--ledger", "FILE", "the ledger (default: the environment variable EPSILOG_LEDGER)",
       &Arguments::ledger},
      {"--policy", "FILE", "the policy file", &Arguments::policy},
      {"--epsilon", "E", "privacy loss, a positive number: 0.1, 1e-3 or 1/3", &Arguments::epsilon},
      {"--delta", "D", "probability in (0,1) left to (epsilon, delta), such as 1e-6", &Arguments::delta},
      {"--rho", "R", "in place of --epsilon and --delta: a Gaussian release of that zCDP loss",
       &Arguments::rho},
      {"--by", "COLUMN", "one answer for each declared value of the column", &Arguments::by},
      {"--where", "PREDICATE", "only these rows: \"age > 65 and ward in ('A','B')\"", &Arguments::where},
      {"--as", "WHO", "who asks (default: the name of the operating system's user)", &Arguments::principal},
      {"--purpose", "P", "what the answer is for, where the dataset declares purposes", &Arguments::purpose},
      {"--key", "K", "idempotency key: asking again with it returns the stored answer, free",
       &Arguments::key},
      {"--value", "V|-", "the answer to value:NAME; better -, which reads it from standard input",
       &Arguments::value},
      {"--data-token", "", "the data are handed out only against a token of `epsilog token`; value:NAME only",
       &Arguments::data_token},
      {"--alpha", "A", "probability in (0,1) that the error is larger (default 0.05); repeatable",
       &Arguments::alphas},
      {"--sensitivity", "D", "largest L1 change of the answer by one unit", &Arguments::sensitivity},
      {"--bound", "B", "releases lie in [-B, B]", &Arguments::bound},
      {"--coordinates", "M", "how many coordinates one unit can change (default 1)", &Arguments::coordinates},
      {"--arithmetic", "mpfr|exact", "arithmetic of the mechanism (default mpfr)", &Arguments::arithmetic},
      {"--precision", "P", "auto, binary64 or a number of bits >= 118 (default auto)", &Arguments::precision},
      {"--at", "Y", "a hypothetical true answer that you make up", &Arguments::at},
      {"--accuracy", "a", "largest error to be exceeded with probability at most alpha",
       &Arguments::accuracy},
      {"--scale", "S", "scale of the noise", &Arguments::scale},
      {"--lambda", "L", "noise scale of the mechanism", &Arguments::lambda},
      {"--sigma", "S", "standard deviation of the noise", &Arguments::sigma},
      {"--l1", "S", "L1 sensitivity: the largest L1 change by one unit", &Arguments::l1},
      {"--l2", "S", "L2 sensitivity: the largest L2 change by one unit", &Arguments::l2},
      {"--flakiness", "K", "a correct mechanism fails with probability at most 10^-K", &Arguments::flakiness},
      {"--integer", "", "the noise is rounded to the nearest integer", &Arguments::integer},
      {"--partitions", "P", "number of partitions (default 1)", &Arguments::partitions},
      {"--lower", "L", "lower bound of the values", &Arguments::lower},
      {"--upper", "U", "upper bound of the values", &Arguments::upper},
      {"--sum", "S", "sum of the values", &Arguments::sum},
      {"--count", "N", "number of the values", &Arguments::count},
      {"--max-rows", "C", "values one unit can add to a partition (default 1)", &Arguments::max_rows},
      {"--mechanism", "TEXT", "NAME KEY=VALUE...: \"laplace scale=1 sensitivity=1 count=100\"; repeatable",
       &Arguments::mechanisms},
      {"--batch", "FILE|-", "one calculation for each row of a CSV table; - reads standard input",
       &Arguments::batch},
      {"--accountant", "NAME", "pure, approximate, advanced, optimal, zcdp, rdp, pld, or all (the default)",
       &Arguments::accountant},
      {"--scopes", "", "each scope of the accounts by itself too", &Arguments::scopes},
      {"--limit", "N", "only the last N decisions", &Arguments::limit},
      {"--why", "TEXT", "the reason, kept with every changed limit; what is looser needs one",
       &Arguments::why},
      {"--source", "PATH", "where the data stand now", &Arguments::source},
      {"--from", "smartnoise|lomas", "the format of the metadata (default: recognised)", &Arguments::from},
      {"--from-csv", "FILE", "the CSV file to begin from", &Arguments::from_csv},
      {"--dataset", "NAME", "the name of the dataset (default: from the table or file)",
       &Arguments::dataset_name},
      {"--output", "FILE", "a new file for the policy; nothing is overwritten (default: standard output)",
       &Arguments::output},
      {"--wait", "S", "seconds to wait for the ledger's lock (default 30)", &Arguments::wait},
      {"--json", "", "JSON on standard output", &Arguments::json},
      {"--quiet", "", "nothing but the answer itself, exact", &Arguments::quiet},
      {"--verbose", "", "also the mechanism, the loss proved, and more digits", &Arguments::verbose},
  };
}

std::vector<VerbSpec> make_verbs() {
  return {
      {Verb::init,
       "init",
       "create a ledger from a policy",
       "epsilog init --policy clinic.yaml --ledger clinic.epsilog",
       "Never overwrites anything. Sources named in the policy are taken relative to the policy file.",
       {},
       {{"--policy", true}, {"--ledger"}, {"--as"}}},
      {Verb::policy_check,
       "policy check",
       "find every fault of a policy file",
       "epsilog policy check clinic.yaml",
       "Each fault is one line FILE:LINE:COLUMN: MESSAGE on standard error; exit code 3.",
       {kPolicyFile},
       {{"--policy"}}},
      {Verb::policy_show,
       "policy show",
       "print the ledger's active policy",
       "epsilog policy show --ledger clinic.epsilog",
       "",
       {},
       {{"--ledger"}}},
      {Verb::policy_apply,
       "policy apply",
       "make a new version of the policy active",
       "epsilog policy apply clinic.yaml --why 'ethics board, 12 March'",
       "Refuses a change that would rewrite what was promised once a dataset was charged: another unit,\n"
       "neighbours, measure or source, a dataset left out, or a budget below what is spent. A source that\n"
       "is written as before stays where it is found, from whichever folder the policy is applied.\n"
       "Exit code 2: it makes something looser, and no --why says why.",
       {kPolicyFile},
       {{"--policy"}, {"--ledger"}, {"--as"}, {"--why"}, {"--wait"}}},
      {Verb::policy_diff,
       "policy diff",
       "what another policy would make looser and what tighter",
       "epsilog policy diff clinic.yaml clinic-2025.yaml\n"
       "epsilog policy diff clinic-2025.yaml --ledger clinic.epsilog",
       "One line for each difference: FILE:LINE:COLUMN: DIRECTION: PLACE: BEFORE -> AFTER: WHY. The "
       "direction\n"
       "is looser, tighter, neutral or incomparable, everything else being as it is. With one file, the\n"
       "ledger's active policy is compared with it, and what `policy apply` would refuse is said too.\n"
       "Exit code 0 whenever the two could be compared; 3 when one of them is not valid.",
       {{"POLICY", true, "the policy to start from; alone, the one to compare with the ledger's",
         &Arguments::policy_file},
        {"LATER", false, "the policy that would take its place", &Arguments::later_policy_file}},
       {{"--ledger"}}},
      {Verb::policy_import,
       "policy import",
       "begin a policy from the metadata of SmartNoise SQL or lomas",
       "epsilog policy import PUMS.yaml > pums.yaml\n"
       "epsilog policy import penguin_metadata.yaml --from lomas --epsilon 3 --output penguins.yaml",
       "Tables become datasets, and columns columns. What the metadata do not say is left as `# TODO:` where "
       "the\n"
       "key would stand, what means something else here is a `# NOTE:`; both are listed on standard error.\n"
       "`epsilog policy check` refuses the policy until what it needs is decided. Numbers are copied "
       "exactly.\n"
       "Exit code 3, with FILE:LINE:COLUMN, for a key or value that is not understood.",
       {{"FILE", true, "the metadata, a YAML file", &Arguments::metadata_file}},
       {{"--from"},
        {"--dataset"},
        {"--epsilon", false, "the budget of each dataset (default: left as TODO)"},
        {"--delta", false, "the delta of that budget"},
        {"--output"}}},
      {Verb::policy_draft,
       "policy init",
       "begin a policy from the header of a CSV file",
       "epsilog policy init --from-csv visits.csv > clinic.yaml\n"
       "epsilog policy init --from-csv data/visits.csv --dataset clinic --output clinic.yaml",
       "How the file is written, and the types of its columns, are guessed from the first 1000 rows at\n"
       "most and must be confirmed. Bounds and values are never taken from the data, since that would\n"
       "publish them: they are left as `# TODO:`, like the unit, the rows and the budget, and\n"
       "`epsilog policy check` refuses the policy until these three are decided.",
       {},
       {{"--from-csv", true}, {"--dataset"}, {"--output"}}},
      {Verb::data_check,
       "data check",
       "report missing, dropped and clamped rows, for the curator only",
       "epsilog data check --policy clinic.yaml\n"
       "epsilog data check clinic --ledger clinic.epsilog",
       "Prints exact counts of the data: they are not private, and are recorded nowhere.",
       {kAnyDataset},
       {{"--policy"}, {"--ledger"}}},
      {Verb::plan,
       "plan",
       "what a release would cost and how accurate it would be; spends nothing",
       "epsilog plan clinic count --epsilon 0.1\n"
       "epsilog plan clinic mean:cost --by ward --epsilon 0.2 --alpha 0.05 --alpha 0.01\n"
       "epsilog plan clinic count --epsilon 0.1 --count 52\n"
       "epsilog plan --batch requests.csv --as alice",
       "Reads no data and records nothing. Exit code 0: it would be granted; 4: it would be refused; 5: it\n"
       "would wait for approvals.\n"
       "  --count  also how many more of exactly this fit, and what each of K more could have.\n"
       "  --batch  a table of requests, planned in order, each against the balances as those before it\n"
       "           would leave them. Its columns: dataset, statistic, epsilon, delta, rho, by, where, as,\n"
       "           purpose, key; what it lacks is taken from the command line. Exit code 0: all would\n"
       "           be granted.",
       {kDataset, kStatistic},
       {{"--epsilon"},
        {"--delta"},
        {"--rho"},
        {"--by"},
        {"--where"},
        {"--alpha"},
        {"--as"},
        {"--purpose"},
        {"--count", false, "also what each of K more releases could have"},
        {"--batch", false, "plan a CSV table of requests in order; - reads standard input"},
        {"--ledger"}}},
      {Verb::forecast,
       "forecast",
       "how many more releases fit, how accurate K more can be, what an accuracy costs",
       "epsilog forecast clinic count --epsilon 0.1               # how many more\n"
       "epsilog forecast clinic histogram:ward --count 52         # best for 52 more\n"
       "epsilog forecast clinic count --accuracy 20 --alpha 0.05  # the least epsilon",
       "Exact under every account that the request would debit, each by its own measure; spends nothing,\n"
       "reads no data. It holds while nobody else is charged. Exit code 0: at least one more (K more)\n"
       "would be granted; 4: none.",
       {kDataset, kStatistic},
       {{"--epsilon"},
        {"--rho"},
        {"--count", false, "how many more releases there shall be"},
        {"--accuracy"},
        {"--alpha"},
        {"--delta"},
        {"--by"},
        {"--where"},
        {"--as"},
        {"--purpose"},
        {"--ledger"}}},
      {Verb::release,
       "release",
       "charge the budget and release a noisy answer, or refuse",
       "epsilog release clinic count --epsilon 0.1\n"
       "epsilog release clinic mean:cost --by ward --where \"age > 65 and ward in ('A','B')\" --epsilon 0.2\n"
       "epsilog release clinic sum:cost --epsilon 1/3 --key monthly-report-2024-03\n"
       "epsilog release clinic units --epsilon 0.5 --delta 1e-6\n"
       "epsilog release clinic units --rho 1/100\n"
       "echo 17.25 | epsilog release clinic value:auc --epsilon 0.5 --value -",
       "The value is printed only after charge and value are durable together. Exit code 4: refused,\n"
       "with every limit that stands against it; a refusal costs nothing. --delta is what a statistic\n"
       "needs that the policy releases by discrete_gaussian or gaussian, and no other may have; where no\n"
       "budget counts delta, --rho says both. Exit code 5:\n"
       "it waits for approvals; once it has them, `epsilog commit` releases it.",
       {kDataset, kStatistic},
       {{"--epsilon"},
        {"--delta"},
        {"--rho"},
        {"--by"},
        {"--where"},
        {"--value"},
        {"--key"},
        {"--as"},
        {"--purpose"},
        {"--alpha"},
        {"--ledger"},
        {"--wait"}}},
      {Verb::reserve,
       "reserve",
       "hold the cost of a release back, to be committed or cancelled before a deadline",
       "epsilog reserve clinic mean:cost --by ward --epsilon 0.2\n"
       "epsilog reserve clinic value:auc --epsilon 0.5 --data-token",
       "Prints id, deadline and plan. What is reserved is not there for others. An uncommitted reservation "
       "is\n"
       "given back only when nobody can have seen the data for it, else it is charged in full: a statistic\n"
       "computed here reads them in its commit only; for value:NAME that is known only with --data-token.\n"
       "Exit code 4: refused; 5: it waits for approvals first.",
       {kDataset, kStatistic},
       {{"--epsilon"},
        {"--delta"},
        {"--rho"},
        {"--by"},
        {"--where"},
        {"--data-token"},
        {"--key"},
        {"--as"},
        {"--purpose"},
        {"--alpha"},
        {"--ledger"},
        {"--wait"}}},
      {Verb::commit,
       "commit",
       "release what was reserved, or approved, and charge exactly that",
       "epsilog commit 01HV5Y3K9QZ8T7W6R5N4M3J2XA\n"
       "echo 17.25 | epsilog commit 01HV5Y3K9QZ8T7W6R5N4M3J2XA --value -",
       "By who asked. A second commit prints the stored answer, free. Exit code 4: it ended otherwise; 5: "
       "it\n"
       "still waits for approvals.",
       {kRequestId},
       {{"--value"}, {"--as"}, {"--alpha"}, {"--ledger"}, {"--wait"}}},
      {Verb::cancel,
       "cancel",
       "end a reservation, or a request that waits for approvals",
       "epsilog cancel 01HV5Y3K9QZ8T7W6R5N4M3J2XA",
       "By who asked, or may approve it. Prints whether what was reserved is given back or charged, or what\n"
       "became of it before. Exit code 4: it was released.",
       {kRequestId},
       {{"--as"}, {"--ledger"}, {"--wait"}}},
      {Verb::token,
       "token",
       "issue the data token of a reservation made with --data-token",
       "epsilog token 01HV5Y3K9QZ8T7W6R5N4M3J2XA",
       "Prints the token, the same each time. From then on the data may have been seen, and the reservation "
       "is\n"
       "charged in full when it is not committed.",
       {kRequestId},
       {{"--as"}, {"--ledger"}, {"--wait"}}},
      {Verb::pending,
       "pending",
       "what waits for approvals or for its commit, oldest first",
       "epsilog pending\n"
       "epsilog pending clinic --json",
       "With --json one object a line (JSON Lines).",
       {kAnyDataset},
       {{"--ledger"}, {"--wait"}}},
      {Verb::approve,
       "approve",
       "agree to a request that waits for approvals",
       "epsilog approve 01HV5Y3K9QZ8T7W6R5N4M3J2XA --as carol",
       "By those whom the policy names under approvals, but not by who asked. The last approval that is "
       "needed\n"
       "decides the request again: what fits then is reserved for who asked to commit. Exit code 4: it no\n"
       "longer fits, or had ended.",
       {kRequestId},
       {{"--as"}, {"--ledger"}, {"--wait"}}},
      {Verb::reject,
       "reject",
       "end a request that waits for approvals",
       "epsilog reject 01HV5Y3K9QZ8T7W6R5N4M3J2XA --as carol --why 'ask for fewer wards'",
       "By those who may approve it; one is enough. Exit code 4: it had ended otherwise.",
       {kRequestId},
       {{"--as"}, {"--why", false, "the reason, kept with the rejection"}, {"--ledger"}, {"--wait"}}},
      {Verb::budget,
       "budget",
       "limits, what is spent and what remains",
       "epsilog budget\n"
       "epsilog budget clinic --json",
       "",
       {kAnyDataset},
       {{"--ledger"}}},
      {Verb::history,
       "history",
       "every decision, oldest first",
       "epsilog history --limit 20\n"
       "epsilog history clinic --json",
       "With --json one object a line (JSON Lines).",
       {kAnyDataset},
       {{"--limit"}, {"--ledger"}, {"--wait"}}},
      {Verb::show,
       "show",
       "one decision with its stored answer",
       "epsilog show 01HV5Y3K9QZ8T7W6R5N4M3J2XA",
       "Free: what was released is printed again as it was stored. Exit code 7: it is not known to be on "
       "the\n"
       "disk, and withheld.",
       {{"DECISION_ID", true, "the id that release printed, or how it begins", &Arguments::decision_id}},
       {{"--alpha"}, {"--ledger"}, {"--wait"}}},
      {Verb::audit_verify,
       "audit verify",
       "recompute everything in the ledger and name what is wrong",
       "epsilog audit verify --ledger backup/clinic.epsilog",
       verify_details(),
       {},
       {{"--ledger"}}},
      {Verb::audit_replay,
       "audit replay",
       "decide every decision again and say of each whether it comes out the same",
       "epsilog audit replay\n"
       "epsilog audit replay --json",
       "Each is decided under its own version of the policy, on the balances of its place in history: the\n"
       "outcome, every reason, charge and parameter of the release must be the same to the last digit.\n"
       "With --json one object a line. Exit code 6: something differs.",
       {},
       {{"--ledger"}}},
      {Verb::audit_reaccount,
       "audit reaccount",
       "what all releases cost together under each accountant, in retrospect",
       "epsilog audit reaccount clinic\n"
       "epsilog audit reaccount --accountant pld --delta 1e-9 --json",
       "Retrospective, valid only for parameters fixed in advance: no limit and no balance follows from it,\n"
       "and nothing is written. Without --delta it is the one that the policy declares, else 1e-6.",
       {kAnyDataset},
       {{"--accountant"},
        {"--delta"},
        {"--epsilon", false, "asks for the delta kept with this epsilon instead, at least 0"},
        {"--scopes"},
        {"--ledger"}}},
      {Verb::recover,
       "recover",
       "clear the mark that an input/output error left on a ledger",
       "epsilog recover --ledger clinic.epsilog",
       "Works only after a reboot, when what is on the disk is all there is, and only if the ledger then\n"
       "verifies.",
       {},
       {{"--ledger"}, {"--wait"}}},
      {Verb::migrate,
       "migrate",
       "bring a ledger of an older epsilog to this one's schema",
       "epsilog migrate --ledger clinic.epsilog",
       "One transaction: after a crash the ledger is whole, in one schema or the other. What it was is kept\n"
       "beside it, as clinic.epsilog.schema1. Every decision stays as it was recorded.",
       {},
       {{"--ledger"}, {"--wait"}}},
      {Verb::clock_confirm,
       "clock confirm",
       "vouch for a clock that jumped forwards, so that budgets renew again",
       "epsilog clock confirm --ledger clinic.epsilog --as curator",
       "When the wall clock runs ahead of the time since boot, releases go on but no budget renews until\n"
       "somebody, by name, confirms that the clock is right. Exit code 7: it stands behind ledger time.",
       {},
       {{"--ledger"}, {"--as"}, {"--wait"}}},
      {Verb::relocate,
       "relocate",
       "say where the source of a dataset stands now, once it was moved",
       "epsilog relocate clinic --source /srv/clinic/visits.csv --why 'project moved to the new server'",
       "The same data, vouched for by whoever runs this: nothing in the ledger could show others. What is\n"
       "there must have the kind and the columns that the policy declares. PATH is relative to the working\n"
       "directory. Every reader of the source goes by it until it is relocated again, or a policy writes\n"
       "another path; `epsilog audit verify` and `epsilog history` show it with who and why.",
       {{"DATASET", true, "the dataset whose source was moved", &Arguments::dataset}},
       {{"--source", true},
        {"--why", true, "the reason, kept with the relocation"},
        {"--as", false, "who says so (default: the name of the operating system's user)"},
        {"--ledger"},
        {"--wait"}}},
  };
}

}  // namespace

const std::vector<VerbSpec>& all_verbs() {
  static const std::vector<VerbSpec> verbs = [] {
    std::vector<VerbSpec> all = make_verbs();
    for (VerbSpec& calculator : calculator_verbs()) all.push_back(std::move(calculator));
    return all;
  }();
  return verbs;
}

const VerbSpec& spec_of(Verb verb) {
  const auto& verbs = all_verbs();
  const auto found =
      std::find_if(verbs.begin(), verbs.end(), [&](const VerbSpec& spec) { return spec.verb == verb; });
  EPSILOG_INVARIANT(found != verbs.end());
  return *found;
}

const std::vector<OptionSpec>& all_options() {
  static const std::vector<OptionSpec> options = make_options();
  return options;
}

const OptionSpec* find_option(std::string_view name) {
  const auto& options = all_options();
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const OptionSpec& option) { return option.name == name; });
  return found == options.end() ? nullptr : &*found;
}

std::array<std::string_view, 3> options_of_every_verb() {
  return {"--json", "--quiet", "--verbose"};
}

bool takes(const VerbSpec& verb, std::string_view option) {
  const auto of_every_verb = options_of_every_verb();
  if (std::find(of_every_verb.begin(), of_every_verb.end(), option) != of_every_verb.end()) return true;
  return std::any_of(verb.options.begin(), verb.options.end(),
                     [&](const OptionUse& use) { return use.name == option; });
}

}  // namespace epsilog::command
