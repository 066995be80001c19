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

DataToken draw_token() {
  return token_of(random_256());
}

std::optional<DataToken> token_of_text(std::string_view text) {
  DataToken::Bytes bytes{};
  if (text.size() != 2 * bytes.size() || !read_hex(text, bytes.data())) return std::nullopt;
  return token_of(bytes);
}

std::optional<DataToken> token_of(const TokenColumns& columns) {
  if (columns == TokenColumns()) return std::nullopt;
  const DataToken::Bytes sha256 = sized_bytes<32>(columns.sha256, "column token_sha256");
  if (columns.bytes.empty()) return DataToken{.bytes = std::nullopt, .sha256 = sha256};
  const DataToken token = token_of(sized_bytes<32>(columns.bytes, "column token"));
  if (token.sha256 != sha256) throw LedgerCorrupt("column token does not have the hash beside it");
  return token;
}

TokenColumns columns_of(const std::optional<DataToken>& token) {
  if (!token) return {};
  return {.bytes = token->bytes ? std::string(text_of(*token->bytes)) : "",
          .sha256 = std::string(text_of(token->sha256))};
}

TokenColumns columns_of(const DataToken::Bytes& sha256, const std::string& bytes) {
  TokenColumns columns{.bytes = "", .sha256 = std::string(text_of(sha256))};
  if (bytes.size() == sha256.size() && epsilog::ledger::sha256(bytes) == sha256) columns.bytes = bytes;
  return columns;
}

}  // namespace epsilog::ledger
