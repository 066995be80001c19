// The policies that must be refused, with their faults. policy/invalid/README.md describes the tables.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "file_text.hpp"
#include "support/case_table.hpp"

namespace epsilog::test {

/// A policy that must be refused.
struct InvalidPolicy {
  std::string yaml;
  std::string error;  ///< the whole text of the error, of a policy in the file NAME.yaml
};

/// Reads tables of invalid policies. The bases must be read before the cases that change them.
class InvalidPolicyTables {
 public:
  /// Throws  std::runtime_error, naming `name` and the line, for a line of no kind, a case without fault, a change
  ///         that does not apply in exactly one place, an unknown base and a name that stands twice.
  void read(const std::string& name, const std::string& table) {
    std::istringstream in(table);
    table_ = name;
    line_ = 0;
    for (std::string line; std::getline(in, line);) {
      ++line_;
      take(line);
    }
    finish();
  }

  [[nodiscard]] const std::map<std::string, InvalidPolicy>& policies() const { return policies_; }

 private:
  /// Lines of a base that are found together, and what stands there in the case.
  struct Change {
    std::string from;
    std::string to;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(table_ + ":" + std::to_string(line_) + ": " + what);
  }

  void take(const std::string& line) {
    if (line.empty() || line[0] == '#') return;
    if (line.starts_with("base ") || line.starts_with("case ")) return begin(line);
    if (kind_.empty()) fail("no base or case begins before this line");
    if (line == "@@") {
      changes_.emplace_back();
      return;
    }
    const std::string rest = line.substr(1);
    switch (line[0]) {
      case ' ':
        changes_.back().from += rest + "\n";
        changes_.back().to += rest + "\n";
        break;
      case '-':
        changes_.back().from += rest + "\n";
        break;
      case '+':
        changes_.back().to += rest + "\n";
        break;
      case '*':
        changes_.back().to += cell_text(rest);
        break;
      case '!':
        if (kind_ != "case" || !rest.starts_with(" "))
          fail("a fault is written '! LINE:COLUMN: text' in a case");
        error_ += name_ + ".yaml:" + rest.substr(1) + "\n";
        break;
      default:
        fail("a line begins with a blank, '-', '+', '*', '!', '@@', '#', 'base' or 'case'");
    }
  }

  void begin(const std::string& line) {
    finish();
    const std::vector<std::string> words = words_of(line);
    const bool on_base = words.size() == 4 && words[0] == "case" && words[2] == "on";
    if (words.size() != 2 && !on_base) fail("expected 'base NAME', 'case NAME' or 'case NAME on BASE'");
    if (on_base && !bases_.contains(words[3])) fail("no base " + words[3]);
    kind_ = words[0];
    name_ = words[1];
    base_ = on_base ? words[3] : "";
    changes_ = {Change{}};
    error_.clear();
  }

  void finish() {
    if (kind_.empty()) return;
    const std::string yaml = base_.empty() ? whole_text() : changed_base();
    if (kind_ == "case" && error_.empty()) fail("no fault: " + name_);
    const bool is_new = kind_ == "base" ? bases_.emplace(name_, yaml).second
                                        : policies_.emplace(name_, InvalidPolicy{yaml, error_}).second;
    if (!is_new) fail("stands twice: " + kind_ + " " + name_);
    kind_.clear();
  }

  [[nodiscard]] std::string whole_text() const {
    if (changes_.size() != 1 || !changes_[0].from.empty())
      fail("a whole text has only added lines: " + name_);
    return changes_[0].to;
  }

  [[nodiscard]] std::string changed_base() const {
    // The line end before the first line lets every search begin at the beginning of a line.
    std::string yaml = "\n" + bases_.at(base_);
    for (const Change& change : changes_) {
      const std::string from = "\n" + change.from;
      const std::size_t at = yaml.find(from);
      if (change.from.empty() || change.from == change.to)
        fail("a change without a place or an effect: " + name_);
      if (at == std::string::npos) fail("a change finds no place in its base: " + name_);
      if (yaml.find(from, at + 1) != std::string::npos)
        fail("a change finds two places in its base: " + name_);
      yaml.replace(at + 1, change.from.size(), change.to);
    }
    return yaml.substr(1);
  }

  std::map<std::string, std::string> bases_;
  std::map<std::string, InvalidPolicy> policies_;
  std::string table_;
  std::size_t line_ = 0;
  std::string kind_;
  std::string name_;
  std::string base_;
  std::vector<Change> changes_;
  std::string error_;
};

/// All of them, by name.
/// Throws  std::runtime_error for a table that cannot be read.
inline const std::map<std::string, InvalidPolicy>& invalid_policies() {
  static const InvalidPolicyTables kTables = [] {
    const std::filesystem::path folder = EPSILOG_SOURCE_DIR "/tests/engine/policy/invalid";
    InvalidPolicyTables tables;
    tables.read("bases.cases", file_text(folder / "bases.cases"));
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".cases" && name != "bases.cases")
        tables.read(name, file_text(entry.path()));
    }
    return tables;
  }();
  return kTables.policies();
}

}  // namespace epsilog::test
