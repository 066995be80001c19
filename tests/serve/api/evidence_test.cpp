// Checkpoints and proofs over the API: what is handed out holds without the daemon.
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/proof_text.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

const Sent kAsText{.headers = {{"accept", "text/plain"}}};

std::uint64_t lines(ServedClinic& clinic) {
  return clinic.view->snapshot().tree().size;
}

std::string released(ServedClinic& clinic, std::uint32_t uid, const std::string& epsilon = "0.01") {
  return clinic.ask(uid, "POST", "/v1/releases", clinic.asks(epsilon)).id();
}

std::string code(const Reply& reply) {
  return reply.body.value("code", "none");
}

}  // namespace

TEST_CASE("the newest checkpoint is read as JSON and as the note itself, signed by the ledger's key",
          "[api][evidence]") {
  ServedClinic clinic;
  CHECK(code(clinic.ask(kAlice, "GET", "/v1/checkpoints")) == "no_checkpoint");
  const engine::VerifierKey vkey = clinic.sign_checkpoints();
  const Reply reply = clinic.ask(kAlice, "GET", "/v1/checkpoints");
  REQUIRE(reply.status == 200);
  const Reply text = clinic.ask(kAlice, "GET", "/v1/checkpoints", "", kAsText);
  CHECK(text.response.content_type == "text/plain; charset=utf-8");
  CHECK(reply.body.at("note") == text.response.body);
  const engine::Checkpoint note = engine::parse_checkpoint(text.response.body);
  CHECK(engine::verify_attestation(note, {.log = vkey}).signed_by_log);
  CHECK(reply.body.at("size") == note.tree.size);
  CHECK(reply.body.at("origin") == engine::ledger_origin(clinic.engine->ledger_id()));
  CHECK(note.tree == clinic.view->snapshot().tree());
}

TEST_CASE("a checkpoint that is asked for is signed for its file, once for the same lines",
          "[api][evidence]") {
  ServedClinic clinic;
  CHECK(code(clinic.ask(kCarol, "POST", "/v1/checkpoints")) == "no_checkpoint_key");
  const engine::VerifierKey vkey = clinic.sign_checkpoints();
  const std::string before = read_file(clinic.notes());
  released(clinic, kAlice);
  for (const std::uint32_t uid : {kCarol, kDora, kOtto}) {
    const Reply reply = clinic.ask(uid, "POST", "/v1/checkpoints");
    CAPTURE(uid, reply.response.body);
    CHECK(reply.status == (uid == kCarol ? 201 : 200));
    CHECK(reply.body.at("size") == lines(clinic));
    CHECK(reply.body.at("verifier_key") == vkey.text());
    CHECK(reply.response.body.find("/tmp") == std::string::npos);
  }
  const auto notes = engine::parse_checkpoints(read_file(clinic.notes()));
  CHECK(notes.size() == 2);
  CHECK(read_file(clinic.notes()).starts_with(before));
  CHECK(engine::verify_attestation(notes.back(), {.log = vkey}).signed_by_log);
  CHECK(code(clinic.ask(kAlice, "POST", "/v1/checkpoints")) == "duty_required");
  CHECK(code(clinic.ask(kCarol, "POST", "/v1/checkpoints", R"({"key":"other"})")) == "invalid_body");
  CHECK(clinic.ask(kRoot, "POST", "/v1/checkpoints", "", {.curator_socket = true}).status == 200);
}

TEST_CASE("a ledger that lacks what was signed signs nothing over the API either, and no path is told",
          "[api][evidence]") {
  ServedClinic clinic;
  clinic.sign_checkpoints();
  const std::string good = read_file(clinic.notes());
  // A checkpoint of more lines than there are, as of a ledger that was put back.
  std::string forged = good;
  const std::size_t at = forged.find('\n') + 1;
  forged.replace(at, forged.find('\n', at) - at, "1000000");
  clinic.folder.write("checkpoints", forged);
  for (const char* method : {"GET", "POST"}) {
    const Reply reply = clinic.ask(kDora, method, "/v1/checkpoints");
    CHECK(reply.status == 503);
    CHECK(code(reply) == "not_verified");
    CHECK(reply.response.body.find("checkpoints'") == std::string::npos);
    CHECK(reply.response.body.find("/tmp") == std::string::npos);
  }
  clinic.folder.write("checkpoints", good);
  std::filesystem::remove(clinic.folder.path("log.key.state"));
  released(clinic, kAlice);
  const Reply reply = clinic.ask(kDora, "POST", "/v1/checkpoints");
  CHECK(code(reply) == "key_unusable");
  CHECK(reply.status == 503);
  CHECK(reply.response.body.find("log.key") == std::string::npos);
}

TEST_CASE("a proof shows without the ledger that its line is in the checkpoint", "[api][evidence]") {
  ServedClinic clinic;
  const engine::VerifierKey vkey = clinic.sign_checkpoints();
  const std::string id = released(clinic, kAlice);
  const std::string route = "/v1/proofs/" + id;
  const Reply early = clinic.ask(kAlice, "GET", route);
  CHECK(early.status == 409);
  CHECK(code(early) == "not_signed_yet");
  REQUIRE(clinic.ask(kOtto, "POST", "/v1/checkpoints").status == 201);
  const Reply reply = clinic.ask(kAlice, "GET", route);
  REQUIRE(reply.status == 200);
  const std::string line = reply.body.at("line");
  const engine::InclusionText proof = engine::parse_inclusion(reply.body.at("proof").get<std::string>());
  CHECK_NOTHROW(engine::require_included(line, proof));
  CHECK(engine::verify_attestation(proof.checkpoint, {.log = vkey}).signed_by_log);
  CHECK(json::parse(line).at("id") == id);
  CHECK(json::parse(line).at("values") ==
        json::array({clinic.ask(kAlice, "GET", "/v1/requests/" + id).body.at("value")}));
  CHECK(clinic.ask(kAlice, "GET", route, "", kAsText).response.body ==
        line + "\n" + reply.body.at("proof").get<std::string>());
}

TEST_CASE("a proof is of what one may see: of one's own, without values for a curator, of any for an auditor",
          "[api][evidence]") {
  ServedClinic clinic;
  clinic.sign_checkpoints();
  const std::string granted = released(clinic, kAlice);
  const std::string refused = released(clinic, kAlice, "1000");
  const std::string limited = released(clinic, kAdam);
  const std::string reserved =
      clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.01", "value:score")).id();
  const Reply committed = clinic.ask(kSam, "POST", "/v1/requests/" + reserved + "/commit", R"({"value":3})");
  REQUIRE(committed.status == 201);
  const std::string posted = committed.id();
  REQUIRE(posted != reserved);
  REQUIRE(clinic.ask(kDora, "POST", "/v1/checkpoints").status == 201);
  const auto status = [&](std::uint32_t uid, const std::string& id) {
    const Reply reply = clinic.ask(uid, "GET", "/v1/proofs/" + id);
    if (reply.status == 200) CHECK(json::parse(reply.body.at("line").get<std::string>()).at("id") == id);
    return reply.status;
  };
  for (const std::string& id : {granted, refused, limited, reserved, posted}) CHECK(status(kDora, id) == 200);
  // The line of a grant has its value, which curators do not see, nor who supplied what it comes from.
  CHECK(status(kCarol, granted) == 403);
  CHECK(status(kCarol, posted) == 403);
  CHECK(status(kSam, posted) == 403);
  CHECK(status(kCarol, refused) == 200);
  CHECK(status(kCarol, reserved) == 200);
  CHECK(status(kAlice, posted) == 200);
  CHECK(status(kAdam, limited) == 200);
  const std::string none = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  for (const std::uint32_t uid : {kAdam, kBob, kOtto}) {
    for (const std::string& id : {granted, refused, reserved, none}) {
      const Reply reply = clinic.ask(uid, "GET", "/v1/proofs/" + id);
      CHECK(reply.status == 404);
      CHECK(reply.response.body == clinic.ask(uid, "GET", "/v1/proofs/" + none).response.body);
    }
  }
  CHECK(status(kSam, reserved) == 404);
}

TEST_CASE("who did something about a request gets the proof of that, and of nothing else about it",
          "[api][evidence]") {
  ServedClinic clinic;
  clinic.sign_checkpoints();
  const std::string pending = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
  const std::string route = "/v1/requests/" + pending;
  REQUIRE(clinic.ask(kBob, "POST", route + "/reject", R"({"why":"not now"})").status == 200);
  REQUIRE(clinic.ask(kDora, "POST", "/v1/checkpoints").status == 201);
  std::string rejected;
  const Reply events = clinic.ask(kDora, "GET", "/v1/events");
  for (const json& event : events.body.at("decisions")) {
    if (event.at("principal") == "bob") rejected = event.at("decision_id");
  }
  REQUIRE_FALSE(rejected.empty());
  const auto status = [&](std::uint32_t uid, const std::string& id) {
    return clinic.ask(uid, "GET", "/v1/proofs/" + id).status;
  };
  CHECK(status(kBob, rejected) == 200);
  CHECK(status(kBob, pending) == 404);
  CHECK(status(kAlice, rejected) == 200);
  CHECK(status(kAlice, pending) == 200);
  CHECK(status(kAdam, rejected) == 404);
  CHECK(status(kCarol, rejected) == 200);
}

TEST_CASE("of a poisoned ledger no line is proved and nothing is signed, and what was signed stays",
          "[api][evidence]") {
  ServedClinic clinic;
  clinic.sign_checkpoints();
  const std::string id = released(clinic, kAlice);
  const Reply before = clinic.ask(kDora, "POST", "/v1/checkpoints");
  REQUIRE(before.status == 201);
  REQUIRE(clinic.ask(kAlice, "GET", "/v1/proofs/" + id).status == 200);
  clinic.folder.write("clinic.ledger.poisoned", "boot\nwhy\n");
  for (const std::uint32_t uid : {kAlice, kDora}) {
    const Reply reply = clinic.ask(uid, "GET", "/v1/proofs/" + id);
    CHECK(reply.status == 503);
    CHECK(reply.response.body.find("line") == std::string::npos);
  }
  CHECK(clinic.ask(kAdam, "GET", "/v1/proofs/" + id).status == 404);
  CHECK(clinic.ask(kAlice, "GET", "/v1/checkpoints").body.at("note") == before.body.at("note"));
  const std::string notes = read_file(clinic.notes());
  static_cast<void>(clinic.ask(kDora, "POST", "/v1/checkpoints"));
  CHECK(read_file(clinic.notes()) == notes);
}

TEST_CASE("a line with balances that one does not see any more is not proved to them", "[api][evidence]") {
  ServedClinic clinic;
  clinic.sign_checkpoints();
  const std::string id = released(clinic, kAdam);
  REQUIRE(clinic.ask(kDora, "POST", "/v1/checkpoints").status == 201);
  CHECK(clinic.ask(kAdam, "GET", "/v1/proofs/" + id).status == 200);
  std::string policy = served_policy();
  policy.insert(policy.find("    limits:\n"), "    allow: {principals: [alice, bob]}\n");
  clinic.sign_checkpoints(policy);
  const Reply reply = clinic.ask(kAdam, "GET", "/v1/proofs/" + id);
  CHECK(reply.status == 403);
  CHECK(code(reply) == "not_permitted");
  CHECK(clinic.ask(kAdam, "GET", "/v1/requests/" + id).status == 200);  // what they were told stays told
}
