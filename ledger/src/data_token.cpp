#include "data_token.hpp"

#include "canonical_tokens.hpp"
#include "decision_id.hpp"
#include "sha256.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

std::string_view text_of(const DataToken::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

DataToken token_of(const DataToken::Bytes& bytes) {
  return {.bytes = bytes, .sha256 = sha256(text_of(bytes))};
}

}  // namespace

DataToken drawn_token() {
  return token_of(random_256());
}

std::optional<DataToken> token_of_text(std::string_view text) {
  DataToken::Bytes bytes{};
  if (text.size() != 2 * bytes.size() || !read_hex(text, bytes.data())) return std::nullopt;
  return token_of(bytes);
}

std::optional<DataToken> token_of_column(const std::string& column, bool lines_only) {
  if (column.empty()) return std::nullopt;
  const DataToken::Bytes bytes = sized_bytes<32>(column, "column token");
  if (lines_only) return DataToken{.bytes = std::nullopt, .sha256 = bytes};
  return token_of(bytes);
}

std::string column_of(const std::optional<DataToken>& token) {
  return token ? std::string(text_of(token->bytes.value())) : "";
}

}  // namespace epsilog::ledger
