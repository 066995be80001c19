// credentials new, add, list, revoke: who a program that asks in the name of others takes for whom.
#include "credentials_output.hpp"
#include "csv_option.hpp"
#include "epsilog/engine/credentials.hpp"
#include "epsilog/ledger/credential_event.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "evidence_arguments.hpp"
#include "ledger_arguments.hpp"
#include "printable.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct CredentialArguments : LedgerArguments {
  std::optional<std::string> of;  // whom it is of, or its id
  std::optional<std::string> uid;
  std::optional<std::string> id;
  std::optional<std::string> until;
  std::optional<std::string> why;
};

/// A date, which is its first moment, or a time of it, in UTC.
std::string until_argument(const std::optional<std::string>& text) {
  if (!text) return "";
  std::string time = *text;
  if (time.size() == 10) time += "T00:00:00Z";
  if (time.size() == 20 && time.ends_with('Z')) time.insert(19, ".000");
  if (!ledger::is_time(time)) {
    throw UsageError("--until: '" + printable(*text) + "' is neither 2027-01-31 nor 2027-01-31T18:00:00Z");
  }
  return time;
}

std::uint32_t uid_argument(const std::string& text) {
  if (!ledger::is_credential_value("uid", text)) {
    throw UsageError("--uid: '" + printable(text) + "' is no number of a user, such as 1000");
  }
  return static_cast<std::uint32_t>(std::stoul(text));
}

engine::NewCredential new_credential(const CredentialArguments& arguments) {
  return {.principal = *arguments.of,
          .id = arguments.id.value_or(""),
          .until = until_argument(arguments.until),
          .by = principal_argument(arguments),
          .why = why_argument(arguments.why)};
}

ledger::Ledger open_ledger(const CredentialArguments& arguments, const Console& console) {
  return ledger::Ledger::open(ledger_path(arguments), engine_options(arguments, console).ledger_options());
}

ExitCode credentials_new(const CredentialArguments& arguments, Console& console) {
  const engine::NewCredential credential = new_credential(arguments);
  ledger::Ledger ledger = open_ledger(arguments, console);
  const engine::IssuedToken issued = engine::new_token(ledger, credential);
  console.set_recorded_note("the token " + issued.credential.id +
                            " was recorded, and nobody has it: revoke it");
  if (console.json()) {
    console.write(issued_token_json(ledger.ledger_id(), issued));
    return ExitCode::done;
  }
  console.write(issued.token.text() + "\n");
  if (!console.quiet()) {
    console.message("this is the only copy of the token of '" + printable(issued.credential.principal) +
                    "'; its id is " + issued.credential.id);
  }
  return ExitCode::done;
}

ExitCode credentials_add(const CredentialArguments& arguments, Console& console) {
  const engine::NewCredential credential = new_credential(arguments);
  const std::uint32_t uid = uid_argument(*arguments.uid);
  ledger::Ledger ledger = open_ledger(arguments, console);
  const engine::Credential added = engine::add_uid(ledger, credential, uid);
  console.set_recorded_note("the credential " + added.id + " was added");
  if (console.json()) {
    console.write(credential_json(ledger.ledger_id(), added, added.at));
  } else if (!console.quiet()) {
    console.write("uid " + added.value + " is '" + printable(added.principal) + "' as of " + added.at +
                  ", by credential " + added.id + "\n");
  }
  return ExitCode::done;
}

ExitCode credentials_revoke(const CredentialArguments& arguments, Console& console) {
  const std::string by = principal_argument(arguments);
  const std::string why = why_argument(arguments.why);
  ledger::Ledger ledger = open_ledger(arguments, console);
  const engine::Credential revoked = engine::revoke_credential(ledger, *arguments.of, by, why);
  console.set_recorded_note("the credential " + revoked.id + " is revoked");
  if (console.json()) {
    console.write(credential_json(ledger.ledger_id(), revoked, revoked.revoked_at));
  } else if (!console.quiet()) {
    console.write("credential " + revoked.id + " of '" + printable(revoked.principal) +
                  "' is revoked as of " + revoked.revoked_at + "\n");
  }
  return ExitCode::done;
}

ExitCode credentials_list(const CredentialArguments& arguments, Console& console) {
  const ledger::Ledger ledger = ledger::Ledger::open_read_only(
      ledger_path(arguments), engine_options(arguments, console).ledger_options());
  ledger::Snapshot view = ledger.snapshot();
  const engine::CredentialBook book = engine::CredentialBook::of(view);
  const std::string now = view.now();
  console.write(console.json() ? credentials_json(view.ledger_id(), book, now)
                               : credentials_text(book, now, console.style()));
  return ExitCode::done;
}

Verb<CredentialArguments> adding_verb() {
  auto options = saying_options<CredentialArguments>();
  options.insert(options.begin() + 1,
                 {{"--until", &CredentialArguments::until}, {"--id", &CredentialArguments::id}});
  return {.words = {},
          .summary = {},
          .examples = {},
          .positionals = {{"PRINCIPAL", &CredentialArguments::of, true,
                           "whom it is of, as the active policy declares them"}},
          .options = options};
}

VerbSpec new_verb() {
  Verb<CredentialArguments> verb = adding_verb();
  verb.words = "credentials new";
  verb.summary = "make a token of a principal, and print it, once";
  verb.examples = "epsilog credentials new alice --until 2027-01-31 --why 'her notebook' > alice.token";
  verb.details =
      "Whoever shows the token is that principal, until it ends or is revoked. The ledger keeps its\n"
      "SHA-256: a token that is lost cannot be had again, and another one is made.";
  verb.run = &credentials_new;
  return verb;
}

VerbSpec add_verb() {
  Verb<CredentialArguments> verb = adding_verb();
  verb.words = "credentials add";
  verb.summary = "record that a user of this machine is a principal";
  verb.examples = "epsilog credentials add alice --uid 1000 --why 'hired in January'";
  verb.details =
      "A uid is a number, and is of one principal at a time. 65534, which stands for users that another\n"
      "machine or container has, is nobody's.";
  verb.options.insert(verb.options.begin(), {"--uid", &CredentialArguments::uid, true});
  verb.run = &credentials_add;
  return verb;
}

VerbSpec list_verb() {
  return Verb<CredentialArguments>{
      .words = "credentials list",
      .summary = "every credential there is or was: whose, by whom, until when, whether valid",
      .examples = "epsilog credentials list --ledger clinic.epsilog",
      .options = {{"--ledger", &CredentialArguments::ledger}},
      .run = &credentials_list};
}

VerbSpec revoke_verb() {
  return Verb<CredentialArguments>{
      .words = "credentials revoke",
      .summary = "record that a credential is valid no more",
      .examples = "epsilog credentials revoke t7x0m2k9qd --why 'the notebook was stolen'",
      .details =
          "It stays in the history and is never valid again; its id is never used again. What was asked by\n"
          "it stays as it is.",
      .positionals = {{"ID", &CredentialArguments::of, true, "its id, as credentials list says it"}},
      .options = saying_options<CredentialArguments>(),
      .run = &credentials_revoke};
}

}  // namespace

std::vector<VerbSpec> credential_verbs() {
  return with_evidence_options(
      {new_verb(), add_verb(), with_rows(list_verb(), &credential_rows), revoke_verb()});
}

}  // namespace epsilog::command
