// A policy written otherwise: its keys in another order, its lists of names too, in other styles of YAML,
// with comments in between. It means the same.
#pragma once

#include "support/catch.hpp"
#include "yaml_tree.hpp"
#include "yaml_writer.hpp"

namespace epsilog::test {

class Respelling final {
 public:
  explicit Respelling(unsigned seed) : random_(seed) {}

  std::string of(const std::string& policy) {
    engine::Faults faults("p.yaml");
    const engine::yaml::Node root = engine::yaml::read(policy, faults);
    REQUIRE(faults.none());
    text_ = "# written again\n";
    block(root, 0);
    return text_;
  }

 private:
  using Node = engine::yaml::Node;
  using Entry = engine::yaml::Entry;

  bool maybe() { return random_() % 2 == 0; }

  template <class T>
  std::vector<T> shuffled(std::vector<T> items) {
    std::shuffle(items.begin(), items.end(), random_);
    return items;
  }

  /// In which order it says the same.
  std::vector<Node> items_of(const Node& list, const std::string& key) {
    static const std::set<std::string> kOrdered = {"bounds", "bins", "values", "forbid"};
    return kOrdered.contains(key) ? list.items : shuffled(list.items);
  }

  std::string scalar(const std::string& text, bool quoted) {
    const bool plain = !text.empty() && text.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_./-") == std::string::npos;
    if (!quoted && plain) return text;  // quoted, `true` would be a text
    const bool single = text.find_first_of("'\\\n\t") == std::string::npos &&
                        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return single && maybe() ? "'" + text + "'" : engine::yaml::scalar(text);
  }

  std::string flow(const Node& node, const std::string& key) {
    if (node.kind == Node::Kind::scalar) return scalar(node.text, node.quoted);
    std::string text;
    const auto add = [&](const std::string& one) {
      text += (text.empty() ? "" : maybe() ? ", " : " , ") + one;
    };
    if (node.kind == Node::Kind::sequence) {
      for (const Node& item : items_of(node, key)) add(flow(item, key));
      return "[" + text + "]";
    }
    REQUIRE(node.kind == Node::Kind::map);
    for (const Entry& entry : shuffled(node.entries))
      add(scalar(entry.key, true) + ": " + flow(entry.value, entry.key));
    return "{" + text + "}";
  }

  void block(const Node& map, std::size_t depth) {
    const std::string margin(depth, ' ');
    const std::size_t deeper = depth + 1 + random_() % 4;
    for (const Entry& entry : shuffled(map.entries)) {
      if (maybe()) text_ += margin + "# a comment: [not, {a, key\n\n";
      text_ += margin + scalar(entry.key, true) + ":";
      const Node& value = entry.value;
      if (value.kind == Node::Kind::map && !value.entries.empty() && maybe()) {
        text_ += "\n";
        block(value, deeper);
      } else if (value.kind == Node::Kind::sequence && !value.items.empty() && maybe()) {
        text_ += "\n";
        for (const Node& item : items_of(value, entry.key)) {
          text_ += std::string(deeper, ' ') + "- " + flow(item, entry.key) + "\n";
        }
      } else {
        text_ += " " + flow(value, entry.key) + (maybe() ? "   # said" : "") + "\n";
      }
    }
  }

  std::mt19937 random_;
  std::string text_;
};

}  // namespace epsilog::test
