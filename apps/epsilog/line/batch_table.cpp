#include "batch_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/not_text.hpp"
#include "options.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

/// Read at once: little, so that how far the reading is tells how far the rows are.
constexpr std::size_t kPieceMax = 4096;
constexpr std::size_t kBeginningMax = 4096;

std::string_view first_line_of(std::string_view bytes) {
  return bytes.substr(0, bytes.find_first_of("\r\n"));
}

/// Without blanks around it, in small letters.
std::string normalized_name(std::string_view name) {
  const std::size_t begin = name.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  std::string text(name.substr(begin, name.find_last_not_of(" \t") - begin + 1));
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

BatchInput::BatchInput(std::string name) : name_(std::move(name)) {
  descriptor_ = name_ == "-" ? STDIN_FILENO : ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<double>(status.st_size);
  }
}

BatchInput::~BatchInput() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::size_t BatchInput::read(char* data, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, data, size);
    if (got >= 0) {
      read_ += static_cast<double>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) fail(errno);
  }
}

double BatchInput::fraction_read() const noexcept {
  return size_ > 0 ? std::min(1.0, read_ / size_) : 0;
}

void BatchInput::fail(int error) const {
  throw SourceError("--batch " + name_ + ": " + std::strerror(error));
}

BatchTable::BatchTable(const std::string& file, Console& console)
    : console_(console), input_(file), records_({}, [this](char* data, std::size_t size) {
        console_.flush();
        const std::size_t got = input_.read(data, std::min(size, kPieceMax));
        if (begins_.size() < kBeginningMax) begins_.append(data, std::min(got, kBeginningMax));
        return got;
      }) {
  const bool any = records_.next();
  if (const auto why = engine::why_not_text(first_line_of(begins_)))
    throw UsageError("--batch: the table " + *why);
  if (!any) throw UsageError("--batch: the table is empty; its first line must name options");
  if (records_.malformed()) {
    throw UsageError("--batch: the first line must name the columns, in UTF-8 and correctly quoted");
  }
  for (const std::string_view field : records_.fields()) {
    if (std::find(names_.begin(), names_.end(), field) != names_.end()) {
      throw UsageError("--batch: the column '" + std::string(field.substr(0, 60)) + "' is there twice");
    }
    names_.emplace_back(field);
  }
}

std::string BatchTable::advice_on(std::string_view name, const std::vector<std::string>& known) const {
  const std::string meant = normalized_name(name);
  if (std::find(known.begin(), known.end(), meant) != known.end())
    return ", write " + meant + ", in small letters without blanks around it";
  std::string usual(usual_name(meant));
  std::replace(usual.begin(), usual.end(), '-', '_');
  if (std::find(known.begin(), known.end(), usual) != known.end()) return " (did you mean " + usual + "?)";
  for (const auto& [mark, called] : {std::pair{';', "semicolons"}, std::pair{'\t', "tabs"}}) {
    if (names_.size() == 1 && name.find(mark) != std::string_view::npos)
      return ", write commas between columns, which here are parted by " + std::string(called) +
             ", and a point in numbers";
  }
  return "";
}

bool BatchTable::next() {
  // An empty line where several cells are expected is no row.
  const auto is_empty = [this] {
    return !records_.malformed() && names_.size() > 1 && records_.fields().size() == 1 &&
           records_.fields()[0].empty();
  };
  do {
    if (!records_.next()) return false;
    ++line_;
  } while (is_empty());
  return true;
}

std::vector<std::string> BatchTable::cells() const {
  std::vector<std::string> cells(names_.size());
  if (records_.malformed()) return cells;
  const auto& fields = records_.fields();
  for (std::size_t i = 0; i < std::min(fields.size(), cells.size()); ++i) cells[i] = fields[i];
  return cells;
}

void BatchTable::check_row() const {
  if (records_.malformed()) throw UsageError("not a record of CSV: check its quotes and that it is UTF-8");
  const std::size_t found = records_.fields().size();
  if (found != names_.size()) {
    throw UsageError("has " + std::to_string(found) + " cells, the header " + std::to_string(names_.size()));
  }
}

accounting::Callback<void(double)> BatchTable::progress(const std::string& label) {
  const bool rows_on_the_terminal = isatty(STDOUT_FILENO) == 1;
  return input_.has_size() && !rows_on_the_terminal ? console_.progress(label)
                                                    : accounting::Callback<void(double)>{};
}

void make_printable(std::vector<std::string>& cells) {
  for (std::string& cell : cells) cell = printable(cell);
}

}  // namespace epsilog::command
