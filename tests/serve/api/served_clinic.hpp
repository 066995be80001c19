// A clinic that is served in this process: requests go to the API as the listener would hand them over.
#pragma once

#include <mutex>
#include <nlohmann/json.hpp>

#include "api.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/signed_note.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/case_table.hpp"
#include "support/json_members.hpp"
#include "support/temporary_folder.hpp"

namespace epsilog::test {

using nlohmann::json;

/// Who asks, by their uid; each is mapped by a credential but those at the end.
enum Uid : std::uint32_t {
  kAlice = 1001,   // asks
  kAdam = 1002,    // asks too
  kBob = 1003,     // approves
  kSam = 1004,     // supplies the score
  kCarol = 1005,   // curates
  kDora = 1006,    // audits
  kOtto = 1007,    // operates
  kNobody = 4242,  // mapped by nothing
  kRoot = 0,       // keeps the machine
};

/// Returns the uid of a name that a table has.
inline std::uint32_t uid_of(const std::string& name) {
  static const std::map<std::string, std::uint32_t> kUids = {
      {"alice", kAlice}, {"adam", kAdam}, {"bob", kBob},   {"sam", kSam},
      {"carol", kCarol}, {"dora", kDora}, {"otto", kOtto}, {"nobody", kNobody}};
  return kUids.at(name);
}

/// A column of the tables of docs/api.md.
struct Role {
  const char* name;
  std::uint32_t uid;
  bool curator_socket = false;
};
inline constexpr std::array<Role, 8> kRoles = {{{"asker", kAlice},
                                                {"other", kAdam},
                                                {"approver", kBob},
                                                {"supplier", kSam},
                                                {"curate", kCarol},
                                                {"audit", kDora},
                                                {"operate", kOtto},
                                                {"keeper", kRoot, true}}};

inline constexpr const char* kServedRows =
    "patient_id,age,cost,ward\n"
    "p1,34,120.50,A\n"
    "p2,71,4000.25,A\n"
    "p3,,99.99,C\n"
    "p4,55,70000.00,B\n";

/// Returns the text of a file of tests/serve/api.
[[nodiscard]] std::string served_text(const std::string& file);
/// Holds a table of docs/api.md, which `begin` and `end` mark, to what was found.
void check_page_table(const std::string& begin, const std::string& end, const std::string& found);

/// `principals` stands in place of those above.
inline std::string served_policy(const std::string& principals =
                                     "  alice: {roles: [research]}\n"
                                     "  adam: {}\n"
                                     "  bob: {}\n"
                                     "  sam: {}\n"
                                     "  carol: {duties: [curate]}\n"
                                     "  dora: {duties: [audit]}\n"
                                     "  otto: {duties: [operate]}\n",
                                 const std::string& budget = "100") {
  std::string text = served_text("served_policy.yaml");
  text.replace(text.find("PRINCIPALS\n"), 11, principals);
  return text.replace(text.find("BUDGET"), 6, budget);
}

/// The body of a request from a text that ends, or breaks off, where it is told to.
class TextBody final : public serve::Body {
 public:
  explicit TextBody(std::string text, bool breaks_off = false)
      : text_(std::move(text)), breaks_off_(breaks_off) {}
  std::size_t read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), text_.size() - at_);
    if (size == 0 && breaks_off_) throw serve::BodyFault(serve::BodyFault::Kind::broken_off);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), size, into.begin());
    at_ += size;
    return size;
  }
  bool wait_for_first_byte() override { return !text_.empty(); }

 private:
  std::string text_;
  std::size_t at_ = 0;
  bool breaks_off_;
};

struct Reply {
  int status = 0;
  nlohmann::json body;
  serve::Response response;

  [[nodiscard]] std::string header(std::string_view name) const {
    for (const serve::Header& header : response.headers) {
      if (header.name == name) return header.value;
    }
    return "";
  }
  [[nodiscard]] std::string id() const { return body.at("decision_id"); }
};

/// What a request has besides its route and its body.
struct Sent {
  std::vector<serve::Header> headers = {};
  bool curator_socket = false;
  bool breaks_off = false;
  std::size_t declared = 0;  ///< Content-Length; 0: as long as the body is
  int socket = -1;           ///< of a connection that the client may close
};

class ServedClinic final {
 public:
  explicit ServedClinic(const std::string& policy = served_policy(),
                        const serve::AdmissionLimits& limits = generous(), std::size_t refusals = 600,
                        const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : folder(parent) {
    folder.write("visits.csv", kServedRows);
    folder.write("policy.yaml", policy);
    static_cast<void>(engine::Engine::init(folder.path("policy.yaml"), ledger(), "carol"));
    map_uids();
    engine::EngineOptions options;
    options.conceals_datasets = true;
    engine = std::make_unique<engine::Engine>(engine::Engine::open(ledger(), options));
    view = std::make_unique<serve::LedgerView>(ledger());
    admission = std::make_unique<serve::Admission>(limits);
    const auto log = [this](const std::string& text) {
      const std::scoped_lock lock(log_mutex_);
      log_.push_back(text);
    };
    readiness = std::make_unique<serve::Readiness>(*engine, ledger(), std::chrono::milliseconds(0), log);
    api =
        std::make_unique<serve::Api>(serve::ApiContext{*engine, *view, *admission, refused, metrics, audits,
                                                       *readiness, engine->ledger_id(), ledger(), 1999, log},
                                     refusals);
  }

  [[nodiscard]] std::string ledger() const { return folder.path("clinic.ledger"); }

  Reply ask(std::uint32_t uid, const std::string& method, const std::string& target,
            const std::string& text = "", const Sent& sent = {}) {
    TextBody body(text, sent.breaks_off);
    return ask(uid, method, target, body, text.size(), sent);
  }
  /// The same with a body of that length which comes as it likes.
  Reply ask(std::uint32_t uid, const std::string& method, const std::string& target, serve::Body& body,
            std::size_t length, const Sent& sent = {}) {
    serve::RequestHead head;
    head.method = method;
    const std::size_t question = target.find('?');
    head.path = target.substr(0, question);
    if (question != std::string::npos) add_query(head, target.substr(question + 1));
    head.headers = {{"host", "localhost"}};
    if (length > 0 || sent.declared > 0) {
      head.headers.push_back({"content-type", "application/json"});
      head.content_length = sent.declared > 0 ? sent.declared : length;
    }
    for (const serve::Header& header : sent.headers) {
      std::erase_if(head.headers, [&](const serve::Header& one) { return one.name == header.name; });
      if (!header.value.empty()) head.headers.push_back(header);
    }
    Reply reply;
    reply.response = api->answer(head, {uid, sent.curator_socket, sent.socket}, body);
    reply.status = reply.response.status;
    reply.body = nlohmann::json::parse(reply.response.body, nullptr, false);
    return reply;
  }

  /// A body that asks for the count at this epsilon, with a key of its own.
  std::string asks(const std::string& epsilon, const std::string& statistic = "count",
                   const std::string& more = "") {
    return R"({"dataset":"clinic","statistic":")" + statistic + R"(","epsilon":")" + epsilon +
           R"(","key":"k)" + std::to_string(++keys_) + "\"" + more + "}";
  }

  /// Of the dataset as a whole, as an auditor is told.
  std::string spent() {
    const nlohmann::json budgets = ask(kDora, "GET", "/v1/budgets").body;
    for (const nlohmann::json& account : budgets.at("accounts")) {
      if (account.at("scope") == "") return account.at("spent");
    }
    return "";
  }

  /// What the daemon would have logged so far.
  [[nodiscard]] std::vector<std::string> log() {
    const std::scoped_lock lock(log_mutex_);
    return log_;
  }

  /// From now on the policy has checkpoints signed, and the first of them is. Returns the verifier key.
  engine::VerifierKey sign_checkpoints(const std::string& policy = served_policy());
  [[nodiscard]] std::string notes() const { return folder.path("checkpoints"); }

  TemporaryFolder folder;
  serve::RefusalCount refused;
  serve::Metrics metrics;
  /// In place of the verification of the ledger.
  serve::AuditJobs::Verify verify = [this](const engine::Progress& progress, engine::StorageCheck storage) {
    return engine::audit_verify(ledger(), progress, storage);
  };
  serve::AuditJobs audits{[this](const engine::Progress& progress, engine::StorageCheck storage) {
    return verify(progress, storage);
  }};
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<serve::LedgerView> view;
  std::unique_ptr<serve::Admission> admission;
  std::unique_ptr<serve::Readiness> readiness;
  std::unique_ptr<serve::Api> api;

  static serve::AdmissionLimits generous() {
    serve::AdmissionLimits limits;
    limits.per_second = 1'000'000;
    limits.burst = 1'000'000;
    return limits;
  }

 private:
  static void add_query(serve::RequestHead& head, std::string query) {
    while (!query.empty()) {
      const std::size_t end = query.find('&');
      const std::string pair = query.substr(0, end);
      head.query.emplace_back(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
      query = end == std::string::npos ? "" : query.substr(end + 1);
    }
  }

  void map_uids();

  std::mutex log_mutex_;
  std::vector<std::string> log_;
  int keys_ = 0;
  std::optional<engine::VerifierKey> vkey_;
};

}  // namespace epsilog::test
