// From the bytes of a policy to what it means.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "policy_decoder.hpp"
#include "policy_file.hpp"

namespace epsilog::engine {
namespace {

[[noreturn]] void refuse_file(const std::string& path, const std::string& message) {
  throw PolicyError({PolicyFault{path, 1, 1, message}});
}

}  // namespace

Policy Policy::parse_stored(std::string_view yaml, const std::string& file) {
  Faults faults(file);
  const yaml::Node root = yaml::read(yaml, faults);
  DecodedPolicy decoded = decode_policy(root, faults);
  if (!faults.none()) throw faults.error();
  Policy policy;
  policy.datasets_ = std::move(decoded.datasets);
  policy.principals_ = std::move(decoded.principals);
  policy.principals_mark_ = decoded.principals_mark;
  policy.replica_ = std::move(decoded.replica);
  policy.checkpoint_ = std::move(decoded.checkpoint);
  policy.yaml_ = std::string(yaml);
  return policy;
}

std::string policy_text(const std::string& path) {
  if (ledger::is_file_of_open_ledger(path)) refuse_file(path, "cannot be read: it belongs to the ledger");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse_file(path, "cannot be read: Is a directory");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse_file(path, std::string("cannot be read: ") + std::strerror(errno));
  // One byte more than allowed tells a file that is too large from one that just fits.
  std::string content(yaml::kBytesMax + 1, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (stream.bad()) refuse_file(path, std::string("cannot be read: ") + std::strerror(errno));
  content.resize(static_cast<std::size_t>(stream.gcount()));
  return content;
}

}  // namespace epsilog::engine
