#include "yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>
#include <algorithm>

#include <exception>
#include <sstream>
#include <unordered_map>

#include "yaml_text.hpp"

namespace epsilog::engine::yaml {
namespace {

constexpr const char* kNoAliases = "anchors, aliases and merge keys are not allowed: write the value out";
constexpr const char* kNoTags = "YAML tags are not allowed: the key alone decides the type of its value";
constexpr const char* kOneLine = "a value over several lines: write it on one line, in quotes if needed";

/// Thrown through the parser when going on makes no sense.
struct Abandoned {
  Problem problem;
};

std::string empty(const Faults& faults) {
  return "the " + faults.document() + " is empty: it needs the keys " + faults.needed_keys();
}

/// yaml-cpp resolves a plain `null` before it says so; these are its spellings.
bool spells_null(std::string_view token) {
  return token == "null" || token == "Null" || token == "NULL" || token == "~";
}

/// The plain scalar at the start of `rest`, for the one-word tokens above.
std::string_view word(std::string_view rest) {
  return rest.substr(0, rest.find_first_of(" \t,:]}#"));
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const SourceText& source, Faults& faults) : source_(source), faults_(faults) {}

  [[nodiscard]] Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    count_node(mark);
    report_properties(mark, anchor, "?");
    const std::string_view token = word(rest(mark));
    if (expects_key() && spells_null(token)) {
      insert(scalar(mark, std::string(token), false));  // `null:` is an ordinary key
    } else {
      report_null(mark, spells_null(token) ? std::string(token) : "");
      insert(refused(mark));
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    count_node(mark);
    // `<<: *base` is one mistake, not two.
    if (!merging()) faults_.add(at(mark), kNoAliases);
    insert(refused(mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    count_node(mark);
    if (report_properties(mark, anchor, tag)) return insert(scalar(mark, value, true));
    const std::string_view here = rest(mark);
    const bool plain = tag != "!";
    if (!plain && (here.starts_with('"') || here.starts_with('\''))) {
      if (!quoted_length(here)) abandon(mark, "this quote is not closed on its line");
      return insert(scalar(mark, value, true));
    }
    if (!plain || !here.starts_with(value)) {
      faults_.add(at(mark), kOneLine);
      return insert(refused(mark));
    }
    insert(scalar(mark, value, false));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A sequence or map that is still being read.
  struct Frame {
    Node node;
    std::unordered_map<std::string, int> lines_of_keys;
    bool has_key = false;  ///< of a map: `key` waits for its value
    bool keep = true;      ///< whether the entry of `key` is worth keeping
    bool merge = false;    ///< `key` is a merge key
    Entry key;
  };

  [[nodiscard]] Mark at(const YAML::Mark& mark) const {
    return source_.mark(static_cast<std::size_t>(mark.line), static_cast<std::size_t>(mark.column));
  }
  [[nodiscard]] std::string_view rest(const YAML::Mark& mark) const {
    return source_.rest(static_cast<std::size_t>(mark.line), static_cast<std::size_t>(mark.column));
  }
  [[noreturn]] void abandon(const YAML::Mark& mark, std::string message) const {
    throw Abandoned{{at(mark), std::move(message)}};
  }

  [[nodiscard]] bool expects_key() const {
    return !frames_.empty() && frames_.back().node.kind == Node::Kind::map && !frames_.back().has_key;
  }
  [[nodiscard]] bool merging() const { return !frames_.empty() && frames_.back().merge; }

  void count_node(const YAML::Mark& mark) {
    if (++nodes_ > kNodesMax)
      abandon(mark, "more than " + std::to_string(kNodesMax) + " values in one " + faults_.document());
  }

  [[nodiscard]] Node scalar(const YAML::Mark& mark, std::string text, bool quoted) const {
    Node node;
    node.kind = Node::Kind::scalar;
    node.mark = at(mark);
    node.text = std::move(text);
    node.quoted = quoted;
    return node;
  }
  [[nodiscard]] Node refused(const YAML::Mark& mark) const {
    Node node;
    node.mark = at(mark);
    return node;
  }

  /// Whether there was an anchor or a tag; the place is then that of the property, not the value's.
  bool report_properties(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag) {
    const bool tagged = rest(mark).starts_with('!') || (tag != "?" && tag != "!" && !tag.empty());
    if (anchor != YAML::NullAnchor) faults_.add(at(mark), kNoAliases);
    if (tagged) faults_.add(at(mark), kNoTags);
    return tagged || anchor != YAML::NullAnchor;
  }

  void report_null(const YAML::Mark& mark, const std::string& spelled) {
    const bool in_map = !frames_.empty() && frames_.back().has_key;
    const Mark key = in_map ? frames_.back().key.mark : at(mark);
    if (!spelled.empty() && at(mark).line == key.line) {
      faults_.add(at(mark), "'" + spelled + "' is not a value: leave the key out, or put the text in quotes");
    } else if (in_map) {
      faults_.add(key, quoted_excerpt(frames_.back().key.key) + " has no value");
    } else if (frames_.empty()) {
      faults_.add(at(mark), empty(faults_));
    } else {
      faults_.add(at(mark), expects_key() ? "a key is missing here" : "an empty entry in a list");
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind) {
    count_node(mark);
    if (frames_.size() >= kDepthMax) {
      abandon(mark, "nested deeper than " + std::to_string(kDepthMax) + " levels");
    }
    if (anchor != YAML::NullAnchor) faults_.add(at(mark), kNoAliases);
    if (tag != "?" && !tag.empty()) faults_.add(at(mark), kNoTags);
    frames_.emplace_back();
    frames_.back().node.kind = kind;
    frames_.back().node.mark = at(mark);
  }

  void close() {
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    insert(std::move(node));
  }

  void insert(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
    } else if (frames_.back().node.kind == Node::Kind::sequence) {
      frames_.back().node.items.push_back(std::move(node));
    } else if (!frames_.back().has_key) {
      insert_key(frames_.back(), std::move(node));
    } else {
      insert_value(frames_.back(), std::move(node));
    }
  }

  void insert_key(Frame& frame, Node node) {
    frame.has_key = true;
    frame.merge = node.kind == Node::Kind::scalar && node.text == "<<" && !node.quoted;
    frame.keep = node.kind == Node::Kind::scalar && !frame.merge;
    if (frame.merge) faults_.add(node.mark, kNoAliases);
    if (node.kind == Node::Kind::sequence || node.kind == Node::Kind::map) {
      faults_.add(node.mark, "a list or map cannot be a key: write a name");
    }
    frame.key.mark = node.mark;
    frame.key.key = std::move(node.text);
    if (!frame.keep) return;
    const auto [first, is_new] = frame.lines_of_keys.emplace(frame.key.key, node.mark.line);
    if (is_new) return;
    frame.keep = false;
    faults_.add(node.mark, "duplicate key " + quoted_excerpt(frame.key.key) +
                               ": it is already given on line " + std::to_string(first->second));
  }

  static void insert_value(Frame& frame, Node node) {
    frame.has_key = false;
    frame.merge = false;
    if (!frame.keep) return;
    frame.key.value = std::move(node);
    frame.node.entries.push_back(std::move(frame.key));
    frame.key = Entry{};
  }

  const SourceText& source_;
  Faults& faults_;
  std::vector<Frame> frames_;
  std::size_t nodes_ = 0;
  Node root_;
};

/// Refuses whatever comes after the first document.
class NoMoreDocuments final : public YAML::EventHandler {
 public:
  NoMoreDocuments(const SourceText& source, std::string document)
      : source_(source), document_(std::move(document)) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    const Mark place =
        source_.mark(static_cast<std::size_t>(mark.line), static_cast<std::size_t>(mark.column));
    throw Abandoned{{place, "a second document begins here: a " + document_ + " is one document"}};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

 private:
  const SourceText& source_;
  std::string document_;
};

std::string in_our_words(const YAML::Exception& error, std::string_view rest) {
  namespace Said = YAML::ErrorMsg;
  const std::string first = rest.empty() ? "" : quoted_excerpt(rest.substr(0, 1));
  const auto said = [&](const std::string& message) { return error.msg.starts_with(message); };
  if (said(Said::MAP_VALUE)) {
    return "a ':' is not allowed here: check the indentation, and put text that contains ': ' in quotes";
  }
  if (said(Said::END_OF_MAP) || said(Said::END_OF_SEQ)) {
    return "this line does not continue what is above: its indentation fits no line there, or a ':' is "
           "missing";
  }
  if (said(Said::UNKNOWN_ANCHOR)) return kNoAliases;
  if (said(Said::FLOW_END)) return "this bracket closes nothing";
  if (said(Said::BLOCK_ENTRY)) return "a list entry '- ' is not allowed here: start it on a line of its own";
  if (said(Said::UNKNOWN_TOKEN) && !first.empty() && static_cast<unsigned char>(rest[0]) < 0x80) {
    return first + " cannot begin a value: put the text in quotes";
  }
  if (said(Said::INVALID_ESCAPE)) {
    return "unknown escape in double quotes: write \\\\ for a backslash, or use single quotes";
  }
  return "not YAML: " + error.msg;
}

Problem explain(const YAML::Exception& error, const SourceText& source) {
  // yaml-cpp's null mark is -1:-1.
  const auto line = static_cast<std::size_t>(error.mark.line < 0 ? 0 : error.mark.line);
  const auto byte = static_cast<std::size_t>(error.mark.column < 0 ? 0 : error.mark.column);
  const Mark place = source.mark(line, byte);
  // A quote or bracket left open is noticed by the parser only where something no longer fits.
  const std::optional<Problem> cause = find_unclosed(source);
  if (cause && cause->mark.line <= place.line) return *cause;
  return {place, in_our_words(error, source.rest(line, byte))};
}

std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node read(std::string_view text, Faults& faults) {
  const SourceText source(without_byte_order_mark(text));
  const auto give_up = [&](const Problem& problem) {
    faults.clear();  // what was found before may follow from the same mistake
    faults.add(problem.mark, problem.message);
    std::throw_with_nested(faults.error());
  };
  try {
    if (text.size() > kBytesMax)
      throw Abandoned{{{}, "larger than 256 KiB: a " + faults.document() + " is a small text"}};
    if (const auto bad = find_bad_character(source)) throw Abandoned{*bad};
    std::istringstream stream{std::string(source.text())};
    YAML::Parser parser(stream);
    TreeBuilder builder(source, faults);
    if (!parser.HandleNextDocument(builder)) {
      throw Abandoned{{{}, empty(faults)}};
    }
    NoMoreDocuments end(source, faults.document());
    parser.HandleNextDocument(end);
    return builder.take_root();
  } catch (const Abandoned& abandoned) {
    give_up(abandoned.problem);
  } catch (const YAML::Exception& error) {
    give_up(explain(error, source));
  }
  return {};
}

Mark mark_of(const Node& root, const std::vector<std::string>& path) {
  const Node* node = &root;
  Mark mark = root.mark;
  for (const std::string& key : path) {
    if (node->kind == Node::Kind::sequence) {
      const std::size_t index = key.starts_with('[') ? std::stoul(key.substr(1)) : node->items.size();
      if (index >= node->items.size()) return mark;
      node = &node->items[index];
      mark = node->mark;
      continue;
    }
    const auto entry = std::find_if(node->entries.begin(), node->entries.end(),
                                    [&](const Entry& candidate) { return candidate.key == key; });
    if (entry == node->entries.end()) return mark;
    mark = entry->mark;
    node = &entry->value;
  }
  return mark;
}

}  // namespace epsilog::engine::yaml
