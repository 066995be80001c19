#include "poison.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <exception>
#include <fstream>
#include <iterator>

#include "epsilog/accounting/errors.hpp"
#include "ledger_time.hpp"

namespace epsilog::ledger {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool write_all(const Descriptor& descriptor, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

std::string current_boot_id() {
  std::string id = read_all("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id.empty() ? "unknown" : id;
}

std::optional<PoisonMarker> read_poison(const LedgerFiles& files) {
  if (!exists(files.poisoned())) return std::nullopt;
  const auto json = nlohmann::json::parse(read_all(files.poisoned()), nullptr, false);
  const auto field = [&](const char* name, const char* otherwise) -> std::string {
    if (!json.is_object() || !json.contains(name) || !json[name].is_string()) return otherwise;
    return json[name].get<std::string>();
  };
  return PoisonMarker{.reason = field("reason", "the marker cannot be read"),
                      .boot_id = field("boot_id", ""),
                      .time = field("time", "")};
}

bool write_poison(const LedgerFiles& files, const std::string& reason) noexcept {
  try {
    const Descriptor marker(
        ::open(files.poisoned().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!marker.valid()) return errno == EEXIST;
    // The name alone poisons, so a failure to write the explanation is no failure to poison.
    const nlohmann::ordered_json json = {
        {"reason", reason}, {"boot_id", current_boot_id()}, {"time", time_text(wall_clock_ms())}};
    const std::string text =
        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    const bool written =
        ::fchmod(marker.get(), 0600) == 0 && write_all(marker, text) && ::fsync(marker.get()) == 0;
    sync_directory(files.directory);
    return written;
  } catch (const std::exception&) {
    return false;
  }
}

void remove_poison(const LedgerFiles& files) {
  if (::unlink(files.poisoned().c_str()) != 0 && errno != ENOENT) {
    throw LedgerIo(system_message("cannot remove " + files.poisoned(), errno));
  }
  sync_directory(files.directory);
}

}  // namespace epsilog::ledger
