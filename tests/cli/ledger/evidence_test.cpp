// Checkpoints, proofs and witnesses by the command: what each verb prints, and what it refuses.
#include <sys/stat.h>

#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

Streams streams(const std::function<void(Streams&)>& change) {
  Streams changed;
  change(changed);
  return changed;
}

/// A ledger with a key, and somebody who keeps its checkpoints.
class Kept {
 public:
  Kept() {
    bench.init(kClinicPolicy);
    vkey = line(with({"key", "generate", file("log.key")}));
    ask();
  }

  Result with(const Words& words, const Streams& streams = {}) const {
    return bench.with_ledger(words, streams);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return bench.path(name); }
  static std::string line(const Result& result) {
    CAPTURE(result.err);
    REQUIRE(result.exit == 0);
    REQUIRE(lines(result.out) == 1);
    return result.out.substr(0, result.out.size() - 1);
  }
  void ask() const { REQUIRE(with({"release", "clinic", "count", "--epsilon", "0.01"}).exit == 0); }
  /// Signs what the ledger L holds now; the name of the file.
  [[nodiscard]] std::string sign(const std::string& name) const {
    const Result signed_now = with({"audit", "checkpoint", "--key", file("log.key")});
    CAPTURE(signed_now.err);
    REQUIRE(signed_now.exit == 0);
    bench.write(name, signed_now.out);
    return file(name);
  }
  /// Puts another file in the place of the ledger's, and leaves nothing that remembers how many lines there
  /// were.
  void replace(const std::string& by) const {
    for (const char* beside : {"L-wal", "L-shm", "L.lock"}) std::filesystem::remove(file(beside));
    std::filesystem::copy_file(file(by), file("L"), std::filesystem::copy_options::overwrite_existing);
  }
  void copy(const std::string& to) const { std::filesystem::copy_file(file("L"), file(to)); }

  Workbench bench;
  std::string vkey;
};

}  // namespace

TEST_CASE("key generate: it prints the verifier key, and overwrites nothing", "[cli][evidence]") {
  const Kept kept;
  const std::string id = kept.with({"budget", "--json"}).json()["ledger_id"];
  CHECK(kept.vkey.starts_with("epsilog/" + id + "+"));
  const std::string key = kept.bench.read("log.key");
  struct stat about {};
  REQUIRE(stat(kept.file("log.key").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777U) == 0600);
  const Result again = kept.with({"key", "generate", kept.file("log.key")});
  check_ended(again, 3, "nothing is overwritten");
  CHECK(again.out.empty());
  CHECK(kept.bench.read("log.key") == key);

  const Result named =
      kept.bench.run({"key", "generate", kept.file("w.key"), "--name", "board.example/w", "--json"});
  check_members(named.json(), R"({"of": "witness", "name": "board.example/w"})");
  CHECK(named.json()["state"] == kept.file("w.key.state"));
  CHECK(
      kept.bench.run({"key", "generate", kept.file("x"), "--name", "epsilog/" + id, "--json"}).json()["of"] ==
      "ledger");
  CHECK(kept.with({"key", "generate", kept.file("y"), "--name", "a"}).exit == 2);
  CHECK(kept.bench.run({"key", "generate", kept.file("y"), "--name", "a b"}).exit == 2);
  CHECK(kept.bench
            .run({"key", "generate", kept.file("y"), "--name", "a"},
                 streams([](Streams& s) { s.no_randomness = true; }))
            .exit == 7);
  CHECK_FALSE(std::filesystem::exists(kept.file("y")));
}

TEST_CASE("key add, key retire: they are recorded with who and why, once", "[cli][evidence]") {
  const Kept kept;
  const auto named = [&](const char* how, const std::string& key) {
    return kept.with({"key", how, key, "--why", "the board", "--as", "cleo", "--json"});
  };
  CHECK(named("retire", kept.vkey).exit == 3);
  CHECK(named("add", "nonsense").exit == 2);
  CHECK(kept.with({"key", "add", kept.vkey}).exit == 2);  // no reason
  const Result added = named("add", kept.vkey);
  CAPTURE(added.err);
  check_members(added.json(), R"({"changed": true, "retired": false})");
  CHECK(named("add", kept.vkey).json()["changed"] == false);
  CHECK(named("add", kept.vkey).json()["at"].is_null());
  CHECK(named("retire", kept.vkey).json()["changed"] == true);
  const std::string lines_of = kept.with({"audit", "export"}).out;
  check_parts(lines_of, {"\"by\":\"cleo\"", "\"kind\":\"key\",\"retired\":true,\"seq\":2"});
  CHECK_FALSE(contains(lines_of, "\"kind\":\"key\",\"seq\":3"));
  CHECK(kept.with({"audit", "verify"}).exit == 0);
}

TEST_CASE("audit checkpoint: a key that the ledger says is retired signs no more, until it is added again",
          "[cli][evidence]") {
  const Kept kept;
  const auto name = [&](const char* how) {
    return kept.with({"key", how, kept.vkey, "--why", "the board", "--as", "cleo"}).exit;
  };
  const Words sign{"audit", "checkpoint", "--key", kept.file("log.key")};
  CHECK(kept.with(sign).exit == 0);  // of no key that is named at all
  REQUIRE(name("add") == 0);
  const Result before = kept.with(sign);
  CHECK(before.exit == 0);
  kept.bench.write("before", before.out);
  REQUIRE(name("retire") == 0);
  const std::string state = kept.bench.read("log.key.state");
  const Result refused = kept.with(sign);
  CHECK(refused.exit == 3);
  CHECK(refused.out.empty());
  check_parts(refused.err, {"log.key is retired", "by cleo", "(the board)"});
  CHECK(kept.bench.read("log.key.state") == state);
  std::filesystem::remove(kept.file("log.key.state"));
  CHECK(kept.with({"audit", "checkpoint", "--key", kept.file("log.key"), "--state-from", kept.file("before")})
            .exit == 3);
  CHECK_FALSE(std::filesystem::exists(kept.file("log.key.state")));
  // What it signed stays signed, and another key signs.
  CHECK(kept.with({"audit", "verify", "--checkpoint", kept.file("before"), "--vkey", kept.vkey}).exit == 0);
  REQUIRE(kept.with({"key", "generate", kept.file("next.key")}).exit == 0);
  CHECK(kept.with({"audit", "checkpoint", "--key", kept.file("next.key")}).exit == 0);
  REQUIRE(name("add") == 0);
  CHECK(kept.with({"audit", "checkpoint", "--key", kept.file("log.key"), "--state-from", kept.file("before")})
            .exit == 0);
}

TEST_CASE("audit checkpoint: it prints a note that check-proof and --checkpoint take", "[cli][evidence]") {
  const Kept kept;
  const std::string first = kept.sign("first");
  const std::string id = decision_id(kept.file("L"));
  kept.ask();
  const std::string second = kept.sign("second");
  CHECK(kept.bench.read("first") != kept.bench.read("second"));
  CHECK(kept.with({"audit", "checkpoint", "--key", kept.file("log.key"), "--json"}).json()["note"] ==
        kept.bench.read("second"));

  for (const std::string& checkpoint : {first, second}) {
    const Result proof = kept.with({"audit", "prove", id, "--checkpoint", checkpoint, "--vkey", kept.vkey});
    CAPTURE(proof.err);
    REQUIRE(proof.exit == 0);
    CHECK(proof.err.empty());
    CHECK(contains(proof.out, "\nc2sp.org/tlog-proof@v1\nindex "));
    CHECK(contains(kept.with({"audit", "export"}).out, proof.out.substr(0, proof.out.find('\n') + 1)));
    kept.bench.write("proof", proof.out);
    const Result checked = kept.bench.run({"audit", "check-proof", kept.file("proof"), "--vkey", kept.vkey});
    CHECK(checked.exit == 0);
    CHECK(contains(checked.out, "signed     by its key"));
    const Result piped = kept.bench.run({"audit", "check-proof", "-", "--json"},
                                        streams([&](Streams& s) { s.input = proof.out; }));
    check_members(piped.json(), R"({"ok": true, "signed": false})");
    CHECK(contains(kept.bench.run({"audit", "check-proof", kept.file("proof")}).out, "unsigned"));
    kept.bench.write("proof", replaced(proof.out, "\"outcome\":\"granted\"", "\"outcome\":\"refused\""));
    const Result changed =
        kept.bench.run({"audit", "check-proof", kept.file("proof"), "--vkey", kept.vkey, "--json"});
    CHECK(changed.exit == 6);
    CHECK(changed.json()["error"]["code"] == "not_verified");
  }
  // A decision that is younger than the checkpoint.
  const Result younger = kept.with({"audit", "prove", decision_id(kept.file("L")), "--checkpoint", first});
  check_ended(younger, 3, "sign a newer one");
}

TEST_CASE(
    "audit checkpoint: a state that is lost, damaged or another's, and a ledger put back, are each told",
    "[cli][evidence][negative]") {
  const Kept kept;
  const std::string old = kept.sign("old");
  kept.copy("older.ledger");
  kept.ask();
  const std::string newest = kept.sign("newest");
  const std::string state = kept.bench.read("log.key.state");
  const auto refused = [&](int exit, const std::string& says) {
    const Result result = kept.with({"audit", "checkpoint", "--key", kept.file("log.key")});
    CAPTURE(result.err);
    CHECK(result.exit == exit);
    CHECK(result.out.empty());
    CHECK(contains(result.err, says));
  };
  // Behind: the key goes on, and the note is the one it would have signed.
  kept.bench.write("log.key.state", state);
  std::filesystem::permissions(kept.file("log.key.state"), std::filesystem::perms(0600));
  CHECK(kept.with({"audit", "checkpoint", "--key", kept.file("log.key")}).out == kept.bench.read("newest"));

  kept.bench.write("log.key.state", replaced(state, "\nsize ", "\nsize 1"));
  refused(3, "is damaged");
  kept.bench.write("log.key.state", "");
  refused(3, "is damaged");
  const Workbench elsewhere(kClinicPolicy);
  REQUIRE(elsewhere.with_ledger({"key", "generate", elsewhere.path("log.key")}).exit == 0);
  kept.bench.write("log.key.state", elsewhere.read("log.key.state"));
  refused(3, "is of another key");
  std::filesystem::remove(kept.file("log.key.state"));
  refused(3, "--state-from");
  const Result from =
      kept.with({"audit", "checkpoint", "--key", kept.file("log.key"), "--state-from", newest});
  CAPTURE(from.err);
  CHECK(from.exit == 0);
  CHECK(from.out == kept.bench.read("newest"));
  CHECK(kept.bench.read("log.key.state") == state);
  CHECK(kept.with({"audit", "checkpoint", "--key", kept.file("log.key"), "--state-from", newest}).exit == 2);

  kept.replace("older.ledger");
  refused(6, "was put back to an earlier time");
  kept.ask();
  kept.ask();
  refused(6, "are not those that this key signed");
  CHECK(kept.bench.read("log.key.state") == state);
  const Result foreign = elsewhere.with_ledger({"audit", "checkpoint", "--key", kept.file("log.key")});
  check_ended(foreign, 3, "is the key of " + kept.vkey.substr(0, kept.vkey.find('+')));
}

TEST_CASE("audit checkpoint: what cannot be kept is not printed, and what was kept may be printed again",
          "[cli][evidence][faults]") {
  const Kept kept;
  const std::string state = kept.bench.read("log.key.state");
  const Words sign{"audit", "checkpoint", "--key", kept.file("log.key")};
  kept.bench.make_read_only();
  const Result read_only = kept.with(sign, streams([](Streams& s) { s.heed_permissions = true; }));
  kept.bench.make_writable();
  CAPTURE(read_only.err);
  CHECK(read_only.exit == 7);
  CHECK(read_only.out.empty());
  CHECK(contains(read_only.err, "cannot make"));
  CHECK(kept.bench.read("log.key.state") == state);

  // The note is lost on the way out: the state is there before it, and the next one is the same note.
  const Result lost = kept.with(sign, streams([](Streams& s) { s.output_file = "/dev/full"; }));
  CHECK(lost.exit == 1);
  CHECK(kept.bench.read("log.key.state") != state);
  const std::string kept_state = kept.bench.read("log.key.state");
  const Result again = kept.with(sign);
  CHECK(again.exit == 0);
  CHECK(kept.bench.read("log.key.state") == kept_state);
}

TEST_CASE("audit checkpoint: two at once sign notes of one history", "[cli][evidence]") {
  const Kept kept;
  std::vector<Result> results(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&kept, &result = results[i]] {
      const Workbench own;  // for what its commands print
      result = own.run({"release", "clinic", "count", "--epsilon", "0.01", "--ledger", kept.file("L")});
      result = own.run({"audit", "checkpoint", "--key", kept.file("log.key"), "--ledger", kept.file("L")});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string all;
  for (const Result& result : results) {
    CAPTURE(result.err);
    REQUIRE(result.exit == 0);
    all += (all.empty() ? "" : "\n") + result.out;
  }
  kept.bench.write("all", all);
  const Result held = kept.with({"budget", "--checkpoint", kept.file("all"), "--vkey", kept.vkey});
  CAPTURE(held.err);
  CHECK(held.exit == 0);
}

TEST_CASE("audit cosign: by mail, from nothing and then from what was cosigned last",
          "[cli][evidence][witness]") {
  const Kept kept;
  const std::string witness =
      Kept::line(kept.bench.run({"key", "generate", kept.file("w.key"), "--name", "board.example/w"}));
  const std::string other =
      Kept::line(kept.bench.run({"key", "generate", kept.file("v.key"), "--name", "union.example/v"}));
  const auto proof = [&](const Words& words, const std::string& name) {
    const Result result = kept.with(words);
    CAPTURE(result.err);
    REQUIRE(result.exit == 0);
    kept.bench.write(name, result.out);
    return kept.file(name);
  };
  const auto cosign = [&](const std::string& checkpoint, const std::string& by_proof,
                          const std::string& vkey) {
    return kept.bench.run(
        {"audit", "cosign", checkpoint, "--proof", by_proof, "--key", kept.file("w.key"), "--vkey", vkey});
  };
  const std::string first = kept.sign("first");
  const std::string from_nothing = proof({"audit", "consistency", "--checkpoint", first}, "p0");
  CHECK(kept.bench.read("p0").starts_with("old 0\n\nepsilog/"));
  const Result cosigned = cosign(first, from_nothing, kept.vkey);
  CAPTURE(cosigned.err);
  REQUIRE(cosigned.exit == 0);
  CHECK(cosigned.out.starts_with(kept.bench.read("first") + "— board.example/w "));
  kept.bench.write("first.cosigned", cosigned.out);
  kept.ask();
  const std::string second = kept.sign("second");
  const std::string unjoined = proof({"audit", "consistency", "--checkpoint", second}, "p1");
  const Result gap = cosign(second, unjoined, kept.vkey);
  CHECK(gap.exit == 6);
  CHECK(gap.out.empty());
  CHECK(contains(gap.err, "one from size"));
  const std::string joined =
      proof({"audit", "consistency", kept.file("first.cosigned"), "--checkpoint", second}, "p2");
  std::string forged = kept.bench.read("first");
  forged[forged.size() - 10] = forged[forged.size() - 10] == 'A' ? 'B' : 'A';
  kept.bench.write("forged", forged);
  CHECK(kept.with({"audit", "consistency", kept.file("forged"), "--checkpoint", second}).exit == 0);
  const Result from_forged =
      kept.with({"audit", "consistency", kept.file("forged"), "--checkpoint", second, "--vkey", kept.vkey});
  CHECK(from_forged.exit == 6);
  CHECK(from_forged.out.empty());
  CHECK(cosign(second, joined, other).exit == 2);  // a witness's key signs no checkpoints
  const Result next = cosign(second, joined, kept.vkey);
  CAPTURE(next.err);
  REQUIRE(next.exit == 0);
  kept.bench.write("second.cosigned", next.out);

  const auto held = [&](const std::string& checkpoint, const Words& more) {
    const Words words = with({"budget", "--checkpoint", checkpoint, "--vkey", kept.vkey}, more);
    return kept.with(words).exit;
  };
  CHECK(held(kept.file("second.cosigned"), {"--witness", witness}) == 0);
  CHECK(held(kept.file("second.cosigned"), {"--witness", witness, "--witness", other}) == 6);
  CHECK(held(kept.file("second.cosigned"), {"--witness", witness, "--witness", other, "--require", "1"}) ==
        0);
  CHECK(held(kept.file("second"), {"--witness", witness}) == 6);
  CHECK(held(kept.file("second"), {"--witness", witness, "--witness", witness}) == 2);
  CHECK(held(kept.file("second"), {"--require", "1"}) == 2);
  CHECK(kept.with({"budget", "--vkey", kept.vkey}).exit == 2);

  const Result line = kept.with({"audit", "prove", decision_id(kept.file("L")), "--checkpoint",
                                 kept.file("second.cosigned"), "--vkey", kept.vkey});
  kept.bench.write("proof", line.out);
  const Result checked = kept.bench.run({"audit", "check-proof", kept.file("proof"), "--vkey", kept.vkey,
                                         "--witness", witness, "--witness", other, "--require", "1"});
  CHECK(checked.exit == 0);
  CHECK(contains(checked.out, "witnesses  board.example/w\n"));
}

TEST_CASE("checkpoint option: no verb works on a ledger that lacks what a checkpoint has",
          "[cli][evidence][checkpoint]") {
  const Kept kept;
  kept.copy("before.ledger");
  kept.ask();
  const std::string checkpoint = kept.sign("kept");
  const std::string id = decision_id(kept.file("L"));
  std::vector<Words> verbs;
  for (const CaseRow& row : cli_table("ledger/checkpoint_verbs.tsv")) {
    verbs.push_back(words_of(row.at(0)));
    for (std::string& word : verbs.back()) word = word == "ID" ? id : word == "VKEY" ? kept.vkey : word;
  }
  kept.replace("before.ledger");
  const std::string before = dump(kept.file("L"));
  for (const Words& verb : verbs) {
    const Words words = with(verb, {"--checkpoint", checkpoint, "--vkey", kept.vkey, "--json"});
    const Result refused = kept.with(words);
    CAPTURE(verb, refused.err, refused.out);
    CHECK(refused.exit == 6);
    CHECK(refused.json()["error"]["code"] == "not_verified");
    CHECK(contains(refused.err, "was put back to an earlier time"));
  }
  CHECK(dump(kept.file("L")) == before);
  CHECK_FALSE(std::filesystem::exists(kept.file("new.key")));
  CHECK_FALSE(std::filesystem::exists(kept.file("copy")));
  // Every verb that the help says to take it is among these, and every verb on a ledger takes it.
  const std::string help = kept.bench.run({"--help"}).out;
  std::size_t held = 0;
  for (std::size_t at = help.find("Verbs"); at != std::string::npos && at < help.size();) {
    const std::size_t end = help.find('\n', at);
    const std::string row = help.substr(at, end - at);
    at = end == std::string::npos ? end : end + 1;
    if (row.size() < 4 || !row.starts_with("  ") || row[2] == ' ') continue;
    Words words;
    const std::string name = row.substr(2, row.find("  ", 2) - 2);
    for (std::size_t from = 0; from < name.size();) {
      const std::size_t blank = std::min(name.find(' ', from), name.size());
      words.push_back(name.substr(from, blank - from));
      from = blank + 1;
    }
    words.emplace_back("--help");
    const std::string verb_help = kept.bench.run(words).out;
    if (!contains(verb_help, "\n  --ledger") || name == "init" || name == "audit import") continue;
    CAPTURE(name);
    CHECK(contains(verb_help, "\n  --checkpoint"));
    ++held;
  }
  CHECK(held == verbs.size() + 1);  // restore, of which there is no ledger yet: backup_test.cpp
}

TEST_CASE("checkpoint option: all notes of a file are checked, and one that is unsigned is said to be",
          "[cli][evidence][checkpoint]") {
  const Kept kept;
  const std::string first = kept.sign("first");
  kept.ask();
  static_cast<void>(kept.sign("second"));
  const std::string one = kept.bench.read("first");
  const std::string two = kept.bench.read("second");
  const auto exit_of = [&](const std::string& notes, bool with_key = true) {
    kept.bench.write("notes", notes);
    Words words{"budget", "--checkpoint", kept.file("notes")};
    return kept.with(with_key ? with(words, {"--vkey", kept.vkey}) : words);
  };
  CHECK(exit_of(one + "\n" + two).exit == 0);
  CHECK(exit_of(one + "\n" + two).err.empty());
  CHECK(contains(exit_of(two, false).err, "unsigned"));
  CHECK(exit_of(one + two).exit == 6);
  CHECK(exit_of("").exit == 6);
  // A signature that is not by the key, in the first of two; without a key nobody looks at it.
  std::string forged = one;
  forged[forged.size() - 10] = forged[forged.size() - 10] == 'A' ? 'B' : 'A';
  CHECK(exit_of(forged + "\n" + two).exit == 6);
  CHECK(exit_of(forged + "\n" + two, false).exit == 0);
  // Another root, without a key: it is the ledger that differs.
  std::string other = one;
  const std::size_t root = other.find('\n', other.find('\n') + 1) + 1;
  other[root] = other[root] == 'A' ? 'B' : 'A';
  CHECK(contains(exit_of(other, false).err, "are not those of the checkpoint"));
  CHECK(kept.with({"budget", "--checkpoint", kept.file("none")}).exit == 2);
  CHECK(kept.with({"budget", "--checkpoint", first, "--vkey", "nonsense"}).exit == 2);
}
