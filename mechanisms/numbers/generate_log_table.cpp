// Writes the source of the tables of logarithms into a file. Run when the library is built.
#include <cinttypes>
#include <cstdio>

#include "log_table_from_mpfr.hpp"

namespace {

using epsilog::mechanisms::LogTable;

template <class Word>
void write_table(std::FILE* file, const char* name, const char* word) {
  const LogTable<Word> table = epsilog::mechanisms::log_table_from_mpfr<Word>();
  std::fprintf(file, "constinit const LogTable<std::%s> %s = {\n    {{\n", word, name);
  for (const auto& cell : table.cells) {
    std::fprintf(file, "        {%" PRIu64 "U, %" PRIu64 "U},\n", std::uint64_t{cell.factor},
                 std::uint64_t{cell.minus_log});
  }
  std::fprintf(file, "    }},\n    %" PRIu64 "U};\n", std::uint64_t{table.log_of_2});
}

}  // namespace

int main(int count, char** arguments) {
  std::FILE* const file = count == 2 ? std::fopen(arguments[1], "w") : nullptr;
  if (file == nullptr) return 1;
  std::fprintf(
      file,
      "// Made by generate_log_table.cpp.\n#include \"log_table.hpp\"\n\nnamespace epsilog::mechanisms "
      "{\n\n");
  write_table<std::uint16_t>(file, "kLogTable16", "uint16_t");
  std::fprintf(file, "\n");
  write_table<std::uint64_t>(file, "kLogTable64", "uint64_t");
  std::fprintf(file, "\n}  // namespace epsilog::mechanisms\n");
  const bool written = std::ferror(file) == 0;
  return std::fclose(file) == 0 && written ? 0 : 1;
}
