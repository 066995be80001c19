#include "options.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace epsilog::command {
namespace {

constexpr OptionSpec kOptions[] = {
    {"--ledger", "FILE", "the ledger (default: the environment variable EPSILOG_LEDGER)"},
    {"--policy", "FILE", "the policy file"},
    {"--epsilon", "E", "privacy loss, a positive number: 0.1, 1e-3 or 1/3"},
    {"--delta", "D", "probability in (0,1) left to (epsilon, delta), such as 1e-6"},
    {"--rho", "R", "in place of --epsilon and --delta: a Gaussian release of that zCDP loss"},
    {"--by", "COLUMNS", "one answer for each declared value of a column, or combination: ward or ward,sex"},
    {"--where", "PREDICATE", "only these rows: \"age > 65 and (ward in ('A','B') or ward is missing)\""},
    {"--totals", "S", "release the totals of the table too, which have this share of the loss: 0.2"},
    {"--consistent", "", "make cells and totals add up, each by as little as its noise allows"},
    {"--suppress-below", "T",
     "show no cell that is counted below T, as released: of count, units, mean, variance"},
    {"--as", "WHO", "who asks (default: the name of the operating system's user)"},
    {"--purpose", "P", "what the answer is for, where the dataset declares purposes"},
    {"--key", "K", "idempotency key: asking again with it returns the stored answer, free"},
    {"--value", "V|-", "the answer to value:NAME; better -, which reads it from standard input"},
    {"--together", "", "the rows of --batch as one decision, as release --batch makes it"},
    {"--compare", "", "every mechanism that could release it, at the same epsilon and delta"},
    {"--dummy", "", "answer from invented rows: no data, no ledger, nothing charged"},
    {"--data-token", "", "the data are handed out only against a token of `epsilog token`; value:NAME only"},
    {"--assume-count", "N", "how accurate a mean or a proportion of N rows would be"},
    {"--alpha", "A", "probability in (0,1) that the error is larger (default 0.05); repeatable", true},
    {"--sensitivity", "D", "largest L1 change of the answer by one unit"},
    {"--bound", "B", "releases lie in [-B, B]"},
    {"--coordinates", "M", "how many coordinates one unit can change (default 1)"},
    {"--arithmetic", "mpfr|exact", "arithmetic of the mechanism (default mpfr)"},
    {"--precision", "P", "auto, binary64 or a number of bits >= 118 (default auto)"},
    {"--at", "Y", "a hypothetical true answer that you make up"},
    {"--accuracy", "a", "largest error to be exceeded with probability at most alpha"},
    {"--scale", "S", "scale of the noise"},
    {"--sigma", "S", "standard deviation of the noise"},
    {"--l1", "S", "L1 sensitivity: the largest L1 change by one unit"},
    {"--l2", "S", "L2 sensitivity: the largest L2 change by one unit"},
    {"--flakiness", "K", "a correct mechanism fails with probability at most 10^-K"},
    {"--integer", "", "the noise is rounded to the nearest integer"},
    {"--partitions", "P", "number of partitions (default 1)"},
    {"--lower", "L", "lower bound of the values"},
    {"--upper", "U", "upper bound of the values"},
    {"--sum", "S", "sum of the values"},
    {"--count", "N", "number of the values"},
    {"--max-rows", "C", "values one unit can add to a partition (default 1)"},
    {"--mechanism", "TEXT", "NAME KEY=VALUE...: \"laplace scale=1 sensitivity=1 count=100\"; repeatable",
     true},
    {"--batch", "FILE|-", "one calculation for each row of a CSV table; - reads standard input"},
    {"--accountant", "NAME", "pure, approximate, advanced, optimal, zcdp, rdp, pld, or all (the default)"},
    {"--scopes", "", "each scope of the accounts by itself too"},
    {"--storage", "full|quick|none", "how far SQLite checks the file itself (default full)"},
    {"--format", "FORMAT", "table, for people (the default), or csv: the rows for programs"},
    {"--limit", "N", "only the last N decisions"},
    {"--by-asker", "WHO", "only what this principal asked, and what became of it"},
    {"--since", "TIME", "only from then on: 2027-01-31 or 2027-01-31T18:00:00Z, UTC"},
    {"--column", "COLUMN", "with --value: only what can tell rows with that value from others"},
    {"--why", "TEXT", "the reason, kept in the ledger; a looser policy or limit needs one"},
    {"--source", "PATH", "where the data stand now"},
    {"--from", "FROM", "smartnoise or lomas, the format of the metadata (default: recognised)"},
    {"--from-csv", "FILE", "the CSV file to begin from"},
    {"--header", "", "the first line names the columns, even where it looks like a record"},
    {"--allow-empty", "", "a source without a row is in order"},
    {"--dataset", "NAME", "the name of the dataset (default: from the table or file)"},
    {"--output", "FILE", "a new file for the policy; nothing is overwritten (default: standard output)"},
    {"--config", "FILE", "the configuration of the daemon"},
    {"--check", "", "look at the configuration and the active policy, and serve nothing"},
    {"--html", "FILE", "a new file for the report as one page of HTML; nothing is overwritten"},
    {"--checkpoint", "FILE", "refuse a ledger that does not contain every checkpoint of that file"},
    {"--vkey", "VKEY", "the log's verifier key, by which a checkpoint must be signed; not from the ledger"},
    {"--witness", "VKEY", "the verifier key of a witness who must have cosigned; repeatable", true},
    {"--require", "N", "so many of the witnesses are enough (default: all of them)"},
    {"--accept-rollback", "", "go on without lines that are lost: what was spent in them can be spent again"},
    {"--forget-ledger", "ID", "the ledger that lay here and is gone: give its budget again"},
    {"--accept-truncated", "", "go on without what follows damage in the replica, which is cut off"},
    {"--sealed", "", "the ledger was sealed, and goes on here and nowhere else"},
    {"--proof", "FILE|-", "the proof that the checkpoint extends the one that was cosigned last"},
    {"--state-from", "FILE", "checkpoints that the key signed, where FILE.state was lost"},
    {"--uid", "N", "the number of a user of this machine"},
    {"--until", "TIME", "when it ends, 2027-01-31 or 2027-01-31T18:00:00Z, UTC (default: never)"},
    {"--id", "ID", "its id: letters, digits and -, never used before (default: one is made up)"},
    {"--name", "NAME", "the name of the key, such as board.example/witness"},
    {"--wait", "S", "seconds to wait for the ledger's lock (default 30)"},
    {"--json", "", "JSON on standard output"},
    {"--quiet", "", "nothing but the answer itself, exact"},
    {"--verbose", "", "also the mechanism, the loss proved, and more digits"},
};

constexpr std::pair<std::string_view, std::string_view> kUsualNames[] = {{"group-by", "by"},
                                                                         {"groupby", "by"},
                                                                         {"group", "by"},
                                                                         {"filter", "where"},
                                                                         {"condition", "where"},
                                                                         {"eps", "epsilon"},
                                                                         {"principal", "as"},
                                                                         {"user", "as"},
                                                                         {"reason", "why"},
                                                                         {"message", "why"},
                                                                         {"database", "ledger"},
                                                                         {"db", "ledger"},
                                                                         {"idempotency-key", "key"},
                                                                         {"timeout", "wait"},
                                                                         {"margins", "totals"},
                                                                         {"min-count", "suppress-below"},
                                                                         {"suppress", "suppress-below"}};

}  // namespace

std::string_view usual_name(std::string_view word) {
  const auto same = [](char one, char other) { return (one == '_' ? '-' : one) == other; };
  for (const auto& [theirs, ours] : kUsualNames) {
    if (std::equal(word.begin(), word.end(), theirs.begin(), theirs.end(), same)) return ours;
  }
  return "";
}

std::span<const OptionSpec> all_options() {
  return kOptions;
}

const OptionSpec* find_option(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                         [&](const OptionSpec& option) { return option.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

std::array<std::string_view, 3> options_of_every_verb() {
  return {"--json", "--quiet", "--verbose"};
}

}  // namespace epsilog::command
