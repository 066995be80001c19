#include "csv_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "csv_header.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/engine/source_io.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "epsilog/engine/not_text.hpp"

namespace epsilog::engine {
namespace {

/// The byte order mark of UTF-8, where each byte is taken for a character of latin-1 or windows-1252.
constexpr std::string_view kMarkOfUtf8 = "ï»¿";

/// A regular file as it was when it was opened: it ends at the size it had then, and whoever reads it to
/// that end learns whether it is still the same.
class File final {
 public:
  explicit File(const std::string& path) : path_(path) {
    struct stat named {};
    const bool found = ::stat(path.c_str(), &named) == 0;
    if (found && ledger::is_file_of_open_ledger(named)) fail(kBelongsToLedger);
    // O_NONBLOCK: opening a pipe must fail the check below, not wait for its writer.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) fail(std::strerror(errno));
    const bool known = ::fstat(descriptor_, &opened_) == 0;
    const bool as_found = found && named.st_dev == opened_.st_dev && named.st_ino == opened_.st_ino;
    // The name may have come to mean the ledger since it was asked: then it stays open for good.
    if (known && !as_found && ledger::is_file_of_open_ledger(opened_)) fail(kBelongsToLedger);
    if (!known || !S_ISREG(opened_.st_mode)) {
      const bool is_directory = known && S_ISDIR(opened_.st_mode);
      ::close(descriptor_);
      fail(is_directory ? "is a directory" : "not a regular file");
    }
    left_ = static_cast<std::size_t>(opened_.st_size);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }

  /// Throws  SourceIo.
  std::size_t read(char* data, std::size_t size) {
    if (left_ == 0) {
      require_unchanged();
      return 0;
    }
    for (;;) {
      const ssize_t got = ::read(descriptor_, data, std::min(size, left_));
      if (got > 0) {
        left_ -= static_cast<std::size_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (got == 0) throw SourceIo(SourceIo::Cause::changed);
      if (errno != EINTR) throw SourceIo(SourceIo::Cause::unreadable);
    }
  }

  /// The first bytes, as far as one reading goes; what is read otherwise stays where it is.
  [[nodiscard]] std::string beginning() const {
    std::string bytes(std::size_t{1} << 16, '\0');
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  [[nodiscard]] double fraction_read() const {
    return opened_.st_size > 0 ? 1 - static_cast<double>(left_) / static_cast<double>(opened_.st_size) : 1.0;
  }
  [[noreturn]] void fail(const std::string& why) const { throw SourceError("csv '" + path_ + "': " + why); }

 private:
  /// As far as size and times tell; of two writes within one tick of the file system's clock they may not.
  void require_unchanged() const {
    struct stat now {};
    struct stat named {};
    const bool same = ::fstat(descriptor_, &now) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                      named.st_dev == opened_.st_dev && named.st_ino == opened_.st_ino &&
                      now.st_size == opened_.st_size && same_time(now.st_mtim, opened_.st_mtim) &&
                      same_time(now.st_ctim, opened_.st_ctim);
    if (!same) throw SourceIo(SourceIo::Cause::changed);
  }
  static bool same_time(const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  }

  std::string path_;
  int descriptor_ = -1;
  struct stat opened_ {};
  std::size_t left_ = 0;
};

class CsvRowSource final : public RowSource {
 public:
  CsvRowSource(const std::string& path, const CsvSource& dialect, const std::vector<std::string>& required,
               const std::vector<std::string>& wanted)
      : file_(path),
        null_(dialect.null),
        delimiter_(dialect.delimiter),
        encoding_(dialect.encoding),
        records_({dialect.delimiter, dialect.multiline, dialect.encoding},
                 [this](char* data, std::size_t size) { return file_.read(data, size); }) {
    read_header(required, wanted);
  }

  Record next(std::span<RawCell> cells) override {
    if (!records_.next()) return Record::none;
    const auto& fields = records_.fields();
    if (records_.malformed()) {
      std::fill(cells.begin(), cells.end(), RawCell{});
      return Record::malformed;
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::string_view text = fields[wanted_[i]];
      // Member by member: one that is put together first is loaded in one piece while its parts are still on
      // their way to memory, which took a tenth of a scan.
      cells[i].text = text;
      cells[i].missing = text.empty() || std::find(null_.begin(), null_.end(), text) != null_.end();
      cells[i].unreadable = false;
    }
    return Record::readable;
  }

  [[nodiscard]] std::uint64_t position() const override { return records_.line(); }
  [[nodiscard]] double fraction_read() const override { return file_.fraction_read(); }

 private:
  void read_header(const std::vector<std::string>& required, const std::vector<std::string>& wanted) {
    const std::string beginning = file_.beginning();
    // No line below the first one decides whether there is an error.
    const std::string_view first_line =
        std::string_view(beginning).substr(0, beginning.find_first_of("\r\n"));
    if (const auto why = why_not_text(first_line)) file_.fail(*why);
    if (!records_.next()) file_.fail("is empty: its first line must name the columns");
    if (records_.malformed()) {
      file_.fail("its first line must name the columns, in " + std::string(name(encoding_)) +
                 " and correctly quoted" +
                 (required.empty() ? "" : cause_of_absence(required.front(), required, beginning)));
    }
    const auto& names = records_.fields();
    if (encoding_ != Encoding::utf_8 && names.front().starts_with(kMarkOfUtf8)) {
      file_.fail("begins with the byte order mark of UTF-8, and `encoding` says " +
                 std::string(name(encoding_)));
    }
    for (const std::string& column : required) {
      const auto count = std::count(names.begin(), names.end(), column);
      if (count == 0)
        file_.fail("has no column '" + column + "'" + cause_of_absence(column, required, beginning));
      if (count > 1) file_.fail("has more than one column '" + column + "'");
    }
    for (const std::string& column : wanted) {
      const auto found = std::find(names.begin(), names.end(), column);
      EPSILOG_INVARIANT(found != names.end());
      wanted_.push_back(static_cast<std::size_t>(found - names.begin()));
    }
    records_.expect_fields(names.size());
  }

  /// ": " and the cause, or nothing.
  [[nodiscard]] std::string cause_of_absence(const std::string& column,
                                             const std::vector<std::string>& required,
                                             std::string_view beginning) const {
    const auto why = why_absent(column, required, beginning, delimiter_);
    return why ? ": " + *why : "";
  }

  File file_;
  std::vector<std::string> null_;
  char delimiter_;
  Encoding encoding_;
  CsvRecords records_;
  std::vector<std::size_t> wanted_;  ///< field index of each wanted column
};

}  // namespace

std::unique_ptr<RowSource> open_csv_source(const std::string& path, const CsvSource& dialect,
                                           const std::vector<std::string>& required,
                                           const std::vector<std::string>& wanted) {
  return std::make_unique<CsvRowSource>(path, dialect, required, wanted);
}

}  // namespace epsilog::engine
