#include "credentials_output.hpp"

#include "json_parts.hpp"
#include "table_output.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

using engine::Credential;

Json object_of(const Credential& credential, const std::string& now) {
  const bool of_uid = credential.type == Credential::Type::uid;
  Json object{{"id", credential.id},
              {"state", engine::name(engine::state_of(credential, now))},
              {"principal", credential.principal},
              {"type", engine::name(credential.type)},
              {"uid", of_uid ? Json(std::stoul(credential.value)) : Json(nullptr)},
              {"token_sha256", of_uid ? Json(nullptr) : Json(credential.value)},
              {"until", wire::or_null(credential.until)},
              {"at", credential.at},
              {"by", credential.by},
              {"why", wire::or_null(credential.why)},
              {"revoked", nullptr}};
  if (!credential.revoked_at.empty()) {
    object["revoked"] = {{"at", credential.revoked_at},
                         {"by", credential.revoked_by},
                         {"why", wire::or_null(credential.revoked_why)}};
  }
  return object;
}

Json with_ledger(const std::string& ledger_id, const Credential& credential, const std::string& now) {
  Json object{{"ledger_id", ledger_id}};
  object.update(object_of(credential, now));
  return object;
}

}  // namespace

std::string credential_json(const std::string& ledger_id, const Credential& credential,
                            const std::string& now) {
  return wire::pretty(with_ledger(ledger_id, credential, now));
}

std::string issued_token_json(const std::string& ledger_id, const engine::IssuedToken& issued) {
  Json object = with_ledger(ledger_id, issued.credential, issued.credential.at);
  object["token"] = issued.token.text();
  return wire::pretty(object);
}

std::string credentials_json(const std::string& ledger_id, const engine::CredentialBook& book,
                             const std::string& now) {
  Json list = Json::array();
  for (const Credential& credential : book.list()) list.push_back(object_of(credential, now));
  return wire::pretty({{"ledger_id", ledger_id}, {"at", now}, {"credentials", list}});
}

std::string credentials_text(const engine::CredentialBook& book, const std::string& now, const Style& style) {
  if (book.list().empty()) return "no credentials\n";
  Table table({{"id"}, {"state"}, {"principal"}, {"by"}, {"until"}, {"added"}, {"who"}, {"why"}});
  for (const Credential& credential : book.list()) {
    const bool of_uid = credential.type == Credential::Type::uid;
    const bool revoked = !credential.revoked_at.empty();
    table.add({credential.id, std::string(engine::name(engine::state_of(credential, now))),
               credential.principal, of_uid ? "uid " + credential.value : "token", credential.until,
               credential.at, credential.by, credential.why});
    if (revoked)
      table.add({"", "", "", "", "", credential.revoked_at, credential.revoked_by, credential.revoked_why});
  }
  return table.text(style);
}

}  // namespace epsilog::command
