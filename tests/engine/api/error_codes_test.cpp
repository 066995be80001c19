// The codes of errors: every kind has one, and docs/library.md lists them all.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "api_clinic.hpp"
#include "epsilog/engine/concealed_dataset.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/ledger/lines_missing.hpp"
#include "epsilog/ledger/replica.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "epsilog/ledger/wait_stopped.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Every class of the library's headers that derives from Error, with the code that it states; "" for none.
std::map<std::string, std::string> stated_codes() {
  struct Kind {
    std::string base;
    std::string code;
  };
  std::map<std::string, Kind> kinds;
  const std::regex head(R"(class (\w+)(?: final)? : public (?:\w+::)*(\w+) \{)");
  const std::regex code(R"re(code\(\) const noexcept override \{ return "(\w+)"; \})re");
  for (const char* layer : {"accounting", "mechanisms", "ledger", "engine"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(EPSILOG_SOURCE_DIR) / layer)) {
      if (entry.path().extension() != ".hpp") continue;
      const std::string text = text_of(entry.path());
      for (auto at = std::sregex_iterator(text.begin(), text.end(), head); at != std::sregex_iterator();
           ++at) {
        const auto begin = static_cast<std::size_t>(at->position());
        const std::string body = text.substr(begin, text.find("\n};", begin) - begin);
        std::smatch found;
        const bool states = std::regex_search(body, found, code);
        kinds[(*at)[1]] = {.base = (*at)[2], .code = states ? found[1].str() : ""};
      }
    }
  }
  std::map<std::string, std::string> codes;
  for (const auto& [name, kind] : kinds) {
    std::string base = kind.base;
    while (base != "Error" && kinds.contains(base)) base = kinds.at(base).base;
    if (base == "Error") codes[name] = kind.code;
  }
  return codes;
}

/// The words in backticks of the paragraph that begins with the name of the function.
std::set<std::string> documented_codes() {
  const std::string page = text_of(fs::path(EPSILOG_SOURCE_DIR) / "docs/library.md");
  const std::size_t begin = page.find("`error.code()`");
  REQUIRE(begin != std::string::npos);
  const std::string paragraph = page.substr(begin, page.find("\n\n", begin) - begin);
  std::set<std::string> codes;
  const std::regex word("`([a-z_]+)`");
  for (auto at = std::sregex_iterator(paragraph.begin(), paragraph.end(), word); at != std::sregex_iterator();
       ++at) {
    codes.insert((*at)[1]);
  }
  return codes;
}

}  // namespace

TEST_CASE("error code: every kind of error states its own, and the document lists them", "[engine][api]") {
  std::set<std::string> stated = {"error"};
  std::set<std::string> silent;
  const auto codes = stated_codes();
  CHECK(codes.size() > 25);
  for (const auto& [name, code] : codes) {
    CAPTURE(name, code);
    if (code.empty()) {
      silent.insert(name);
    } else {
      CHECK(stated.insert(code).second);
    }
  }
  // A dataset that is concealed reads as one that is not there; one damaged row is damage of the ledger.
  CHECK(silent == std::set<std::string>{"ConcealedDataset", "UnreadableRow"});
  CHECK(documented_codes() == stated);
}

TEST_CASE("error code: is that of the kind itself, also where it is caught as the one it derives from",
          "[engine][api]") {
  const auto code = [](const Error& error) { return error.code(); };
  CHECK(code(Error("")) == "error");
  CHECK(code(InvalidParameter("")) == "invalid_parameter");
  CHECK(code(LedgerBusy("")) == "ledger_busy");
  CHECK(code(ledger::WaitStopped("")) == "wait_stopped");
  CHECK(code(ledger::ReplicaUnavailable("")) == "replica_unavailable");
  CHECK(code(ledger::LedgerRolledBack("")) == "ledger_rolled_back");
  CHECK(code(ledger::LinesMissing("", 2, 1)) == "lines_missing");
  CHECK(code(ledger::UnreadableRow("")) == "ledger_corrupt");
  CHECK(code(engine::NotPermitted("")) == "not_permitted");
  CHECK(code(engine::ConcealedDataset("clinic")) == "not_found");
  ApiClinic at;
  try {
    (void)at.ledger.status("none");
    FAIL("it was found");
  } catch (const Error& error) {
    CHECK(error.code() == "not_found");
  }
}
