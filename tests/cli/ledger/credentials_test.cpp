// credentials new, add, list, revoke: what they print and record, and what they refuse.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// A ledger whose policy declares principals.
struct Registry {
  Registry() {
    bench.init(std::string(kClinicPolicy) +
               "principals:\n  alice: {roles: [research]}\n  carol: {duties: [curate]}\n");
  }
  [[nodiscard]] Result credentials(Words words, const Streams& streams = {}) const {
    words.insert(words.begin(), "credentials");
    return bench.with_ledger(std::move(words), streams);
  }
  [[nodiscard]] Result said(Words words, const Streams& streams = {}) const {
    words.insert(words.end(), {"--why", "the board", "--as", "cleo"});
    return credentials(std::move(words), streams);
  }
  Workbench bench;
};

}  // namespace

TEST_CASE("credentials: a token is printed once, listed without it, and revoked", "[cli][identity]") {
  const Registry registry;
  const Result made = registry.said({"new", "alice", "--id", "t1", "--until", "2999-01-31"});
  CAPTURE(made.err);
  REQUIRE(made.exit == 0);
  CHECK(made.out.starts_with("eps_t1_"));
  CHECK(made.out.size() == 7 + 52 + 6 + 1);
  CHECK(contains(made.err, "this is the only copy"));
  CHECK(registry.said({"new", "carol", "--quiet"}).err.empty());
  const Result token =
      registry.said({"new", "carol", "--id", "t3", "--until", "2999-01-31T18:00:00Z", "--json"});
  CHECK(token.json()["token"].get<std::string>().starts_with("eps_t3_"));
  check_members(token.json(), R"({"until": "2999-01-31T18:00:00.000Z", "state": "valid"})");
  const Result added = registry.said({"add", "carol", "--uid", "1000", "--id", "u1"});
  CHECK(contains(added.out, "uid 1000 is 'carol' as of "));

  const Result listed = registry.credentials({"list", "--json"});
  const auto all = listed.json()["credentials"];
  REQUIRE(all.size() == 4);
  check_members(all[0], R"({"id": "t1", "by": "cleo", "why": "the board"})");
  CHECK(all[0]["token_sha256"].get<std::string>().size() == 64);
  CHECK(all[0]["uid"].is_null());
  CHECK(all[3]["uid"] == 1000);
  const std::string secret = made.out.substr(7, 58);
  CHECK_FALSE(contains(listed.out, secret));
  CHECK_FALSE(contains(dump(registry.bench.path("L")), secret));
  const Result revoked = registry.said({"revoke", "t1", "--json"});
  CHECK(revoked.json()["state"] == "revoked");
  CHECK(revoked.json()["revoked"]["by"] == "cleo");
  const Result table = registry.credentials({"list"});
  check_parts(table.out, {"revoked", "uid 1000"});
  const std::string history = registry.bench.with_ledger({"audit", "export"}).out;
  CHECK(contains(history, "\"kind\":\"credential\",\"principal\":\"alice\",\"revoked\":true,\"seq\":5"));
  CHECK_FALSE(contains(history, secret));
  CHECK(registry.bench.with_ledger({"audit", "verify"}).exit == 0);
  // Whoever made one and could not read it is told what is on record.
  Streams full;
  full.output_file = "/dev/full";
  const Result lost = registry.said({"new", "alice", "--id", "t9"}, full);
  CHECK(lost.exit != 0);
  CHECK(contains(lost.err, "the token t9 was recorded, and nobody has it: revoke it"));
}

TEST_CASE("credentials: what makes no sense is refused, and nothing is recorded",
          "[cli][identity][negative]") {
  const Registry registry;
  CHECK(contains(registry.credentials({"list"}).out, "no credentials"));
  const std::string before = dump(registry.bench.path("L"));
  for (const CaseRow& row : cli_table("ledger/wrong_credentials.tsv")) {
    CAPTURE(row.at(0));
    const Result refused = registry.said(words_of(row.at(0)));
    CHECK(std::to_string(refused.exit) == row.at(1));
    CHECK(contains(refused.err, row.at(2)));
    CHECK(refused.out.empty());
  }
  CHECK(registry.credentials({"new", "alice"}).exit == 2);  // no reason
  CHECK(dump(registry.bench.path("L")) == before);
}

TEST_CASE("credentials: what came by one that had ended is told beside the verdict, and is no fault",
          "[cli][identity][audit]") {
  const Registry registry;
  const Workbench& bench = registry.bench;
  CHECK(registry.said({"add", "alice", "--uid", "1000", "--id", "u1"}).exit == 0);
  CHECK(bench.with_ledger({"audit", "verify", "--json"}).json()["ended_credentials"]["count"] == 0);
  CHECK_FALSE(contains(bench.with_ledger({"audit", "verify"}).out, "note: "));
  const std::string revoked = registry.said({"revoke", "u1", "--json"}).json()["revoked"]["at"];
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--as", "alice"}).exit == 0);
  // As a program records it that asks in her name; the command itself never does.
  epsilog::test::tamper(bench.path("L"),
                        "DROP TRIGGER decision_no_update; UPDATE decision SET via = 'unix:1000'");
  const Result verified = bench.with_ledger({"audit", "verify", "--json"});
  const auto told = verified.json()["ended_credentials"];
  CHECK_FALSE(contains(verified.out, "via_unfounded"));
  CHECK(told["count"] == 1);
  const auto& one = told["longest"][0];
  check_members(one, R"({"by": "alice", "via": "unix:1000"})");
  CHECK(one["ended"] == revoked);
  CHECK(
      contains(bench.with_ledger({"audit", "verify"}).out,
               "note: 1 decision by a credential that had ended when it was recorded, as may be of what was "
               "asked before: " +
                   one["decision_id"].get<std::string>() + " of " + one["at"].get<std::string>() +
                   " by 'alice' via unix:1000, which ended at " + revoked));
  epsilog::test::tamper(bench.path("L"), "UPDATE decision SET via = 'unix:1001'");
  CHECK(contains(bench.with_ledger({"audit", "verify"}).out, "via_unfounded"));
}
