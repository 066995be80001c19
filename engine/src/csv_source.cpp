#include "csv_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/csv_records.hpp"

namespace epsilog::engine {
namespace {

/// A regular file opened for reading; counts what was read.
class File final {
 public:
  explicit File(const std::string& path) : path_(path) {
    // O_NONBLOCK: opening a pipe must fail the check below, not wait for its writer.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) fail(std::strerror(errno));
    struct stat status {};
    const bool known = ::fstat(descriptor_, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
      const bool is_directory = known && S_ISDIR(status.st_mode);
      ::close(descriptor_);
      fail(is_directory ? "is a directory" : "not a regular file");
    }
    size_ = static_cast<double>(status.st_size);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }

  std::size_t read(char* data, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, data, size);
      if (got >= 0) {
        read_ += static_cast<double>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) fail(std::strerror(errno));
    }
  }

  [[nodiscard]] double fraction_read() const { return size_ > 0 ? std::min(1.0, read_ / size_) : 1.0; }
  [[noreturn]] void fail(const std::string& why) const { throw SourceError("csv '" + path_ + "': " + why); }

 private:
  std::string path_;
  int descriptor_ = -1;
  double size_ = 0;
  double read_ = 0;
};

class CsvRowSource final : public RowSource {
 public:
  CsvRowSource(const std::string& path, const CsvSource& dialect, const std::vector<std::string>& required,
               const std::vector<std::string>& wanted)
      : file_(path),
        null_(dialect.null),
        records_({dialect.delimiter, dialect.multiline},
                 [this](char* data, std::size_t size) { return file_.read(data, size); }) {
    read_header(required, wanted);
  }

  Record next(std::span<RawCell> cells) override {
    if (!records_.next()) return Record::none;
    const auto& fields = records_.fields();
    if (records_.malformed() || fields.size() != header_size_) {
      std::fill(cells.begin(), cells.end(), RawCell{});
      return Record::malformed;
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::string_view text = fields[wanted_[i]];
      cells[i] = {text, text.empty() || std::find(null_.begin(), null_.end(), text) != null_.end()};
    }
    return Record::readable;
  }

  [[nodiscard]] double fraction_read() const override { return file_.fraction_read(); }

 private:
  void read_header(const std::vector<std::string>& required, const std::vector<std::string>& wanted) {
    if (!records_.next()) file_.fail("is empty: its first line must name the columns");
    if (records_.malformed())
      file_.fail("its first line must name the columns, in UTF-8 and correctly quoted");
    const auto& names = records_.fields();
    header_size_ = names.size();
    for (const std::string& column : required) {
      const auto count = std::count(names.begin(), names.end(), column);
      if (count == 0) file_.fail("has no column '" + column + "'");
      if (count > 1) file_.fail("has more than one column '" + column + "'");
    }
    for (const std::string& column : wanted) {
      const auto found = std::find(names.begin(), names.end(), column);
      EPSILOG_INVARIANT(found != names.end());
      wanted_.push_back(static_cast<std::size_t>(found - names.begin()));
    }
  }

  File file_;
  std::vector<std::string> null_;
  CsvRecords records_;
  std::size_t header_size_ = 0;
  std::vector<std::size_t> wanted_;  ///< field index of each wanted column
};

}  // namespace

std::unique_ptr<RowSource> open_csv_source(const std::string& path, const CsvSource& dialect,
                                           const std::vector<std::string>& required,
                                           const std::vector<std::string>& wanted) {
  return std::make_unique<CsvRowSource>(path, dialect, required, wanted);
}

}  // namespace epsilog::engine
