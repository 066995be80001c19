// --batch: a table of calculations in one process. Every calculator takes the same path, so what concerns
// the table is tested with one of them.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/csv_table.hpp"
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

using Header = std::vector<std::string>;

const Words kSnapping = {"accuracy",     "snapping", "--sensitivity", "1",
                         "--arithmetic", "exact",    "--batch",       "-"};

Result on_input(const Workbench& bench, const Words& words, const std::string& input) {
  Streams streams;
  streams.input = input;
  return bench.run(words, streams);
}

/// What the command says alone of epsilon 0.1, bound 20, alpha 0.05.
std::string good_accuracy(const Workbench& bench) {
  const std::string line = bench
                               .run({"accuracy", "snapping", "--epsilon", "0.1", "--sensitivity", "1",
                                     "--bound", "20", "--arithmetic", "exact", "--quiet"})
                               .out;
  REQUIRE(line.substr(0, 16) == "31.0258509299404");
  return line.substr(0, line.size() - 1);
}

void check_header_refused(const Result& result, const std::string& part) {
  CAPTURE(result.err, part);
  CHECK(result.exit == 2);
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
  CHECK(contains(result.err, part));
}

}  // namespace

TEST_CASE("batch: prints the columns of the input, the results and an error for each row", "[cli][batch]") {
  const Workbench bench;
  const std::string good = good_accuracy(bench);
  const Result result = on_input(bench, kSnapping, "epsilon,bound,alpha\n0.1,20,0.05\n1/10,20,1e-2\n");
  CHECK(result.exit == 0);
  CHECK(result.err.empty());
  CHECK(result.out ==
        "epsilon,bound,alpha,scale,grid,within,error\n"
        "0.1,20,0.05,10,16," +
            good +
            ",\n"
            "1/10,20,1e-2,10,16,36,\n");
}

TEST_CASE("batch: a file gives what standard input gives", "[cli][batch]") {
  const Workbench bench;
  const std::string table = "epsilon,bound\n0.1,20\n0.2,20\n";
  bench.write("table.csv", table);
  Words words = kSnapping;
  words.back() = "table.csv";
  const Result result = bench.run(words);
  CHECK(result.exit == 0);
  CHECK(lines(result.out) == 3);
  CHECK(result.out == on_input(bench, kSnapping, table).out);
}

TEST_CASE("batch: an empty cell is an option not given, for which the command line's holds", "[cli][batch]") {
  const Workbench bench;
  const std::string good = good_accuracy(bench);
  const std::string table = "alpha,epsilon,bound\n0.01,0.1,20\n,0.1,20\n,,20\n,0.1,\n";
  const Result result = on_input(bench, with(kSnapping, {"--alpha", "0.05"}), table);
  const CsvTable rows = CsvTable::read(result.out);
  REQUIRE(rows.rows.size() == 4);
  CHECK(rows.at(0, "within") == "36");
  CHECK(rows.at(1, "within") == good);
  CHECK(rows.at(1, "alpha").empty());
  CHECK(contains(rows.at(2, "error"), "--epsilon is required"));
  CHECK(contains(rows.at(3, "error"), "--bound is required"));
  CHECK(result.exit == 3);
}

TEST_CASE("batch: bad rows say why, leave their results empty, and end with 3 after all rows",
          "[cli][batch][negative]") {
  const Workbench bench;
  const std::string good = good_accuracy(bench);
  const Result result = on_input(bench, kSnapping,
                                 "epsilon,bound,alpha\n"
                                 "0,20,0.05\n"
                                 "0.1,20,0.05\n"
                                 "0.1,20,\"0,05\"\n"
                                 "0.1,20\n"
                                 "0.1,20,0.05,7\n"
                                 "0.1,2\"0,0.05\n"
                                 "0.1,\"20,0.05\n"
                                 "0.1,\xff,0.05\n"
                                 "nan,20,0.05\n"
                                 "0.1,20,0.05\n");
  CHECK(result.exit == 3);
  CHECK(result.err == "epsilog: 8 of 10 rows are bad; each says why in its error\n");
  const CsvTable rows = CsvTable::read(result.out);
  CHECK(rows.header == Header{"epsilon", "bound", "alpha", "scale", "grid", "within", "error"});
  REQUIRE(rows.rows.size() == 10);
  const std::vector<std::pair<std::size_t, std::string>> expected = {
      {0, "line 2: --epsilon: '0' must be greater than 0"},
      {2, "line 4: --alpha: '0,05' is not a number: write it as 0.25, 1e-6 or 1/3"},
      {3, "line 5: has 2 cells, the header 3"},
      {4, "line 6: has 4 cells, the header 3"},
      {5, "line 7: not a record of CSV: check its quotes and that it is UTF-8"},
      {6, "line 8: not a record of CSV: check its quotes and that it is UTF-8"},
      {7, "line 9: not a record of CSV: check its quotes and that it is UTF-8"},
      {8, "line 10: --epsilon: 'nan' is not a number: write it as 0.25, 1e-6 or 1/3"}};
  for (const auto& [row, message] : expected) {
    CHECK(rows.at(row, "error") == message);
    for (const char* column : {"scale", "grid", "within"}) CHECK(rows.at(row, column).empty());
  }
  for (const std::size_t row : {1U, 9U}) {
    CHECK(rows.at(row, "within") == good);
    CHECK(rows.at(row, "error").empty());
  }
  CHECK(rows.at(2, "alpha") == "0,05");
}

TEST_CASE("batch: control characters of a cell reach neither the error nor the terminal unseen",
          "[cli][batch][negative]") {
  const Workbench bench;
  const Result result = on_input(bench, kSnapping, "epsilon,bound\n\x1b[31m,20\n");
  CHECK(contains(CsvTable::read(result.out).at(0, "error"), "'\\x1b[31m' is not a number"));
}

TEST_CASE("batch: a header of unknown, repeated or missing columns ends with 2 before any row",
          "[cli][batch][negative]") {
  const Workbench bench;
  const std::string row = "0.1,20\n";
  check_header_refused(on_input(bench, kSnapping, "epsilon,bond\n" + row), "unknown column 'bond'");
  check_header_refused(on_input(bench, kSnapping, "epsilon,--bound\n" + row), "unknown column '--bound'");
  check_header_refused(on_input(bench, kSnapping, "epsilon, bound\n" + row), "unknown column ' bound'");
  check_header_refused(on_input(bench, kSnapping, "epsilon,json\n" + row), "unknown column 'json'");
  check_header_refused(on_input(bench, kSnapping, "epsilon,batch\n" + row), "unknown column 'batch'");
  check_header_refused(on_input(bench, kSnapping, "epsilon,ledger\n" + row), "unknown column 'ledger'");
  check_header_refused(on_input(bench, kSnapping, "epsilon,error\n" + row), "unknown column 'error'");
  check_header_refused(on_input(bench, kSnapping, "epsilon,epsilon\n" + row),
                       "the column 'epsilon' is there twice");
  check_header_refused(on_input(bench, kSnapping, "epsilon\n0.1\n"), "--bound is required");
  check_header_refused(on_input(bench, kSnapping, "epsilon,\"bound\n" + row), "first line");
  check_header_refused(on_input(bench, kSnapping, ""), "empty");
  check_header_refused(
      on_input(bench, with(kSnapping, {"--alpha", "0.1", "--alpha", "0.2"}), "epsilon,bound\n"),
      "--alpha: only once with --batch");
}

TEST_CASE("batch: a byte order mark, CRLF, quotes, blank lines and a missing last line end are accepted",
          "[cli][batch]") {
  const Workbench bench;
  const std::string plain = on_input(bench, kSnapping, "epsilon,bound,alpha\n0.1,20,0.05\n1,20,0.05\n").out;
  CHECK(lines(plain) == 3);
  for (const char* table : {"\xEF\xBB\xBF"
                            "epsilon,bound,alpha\r\n0.1,20,0.05\r\n1,20,0.05\r\n",
                            "\"epsilon\",\"bound\",\"alpha\"\n\"0.1\",\"20\",\"0.05\"\n\"1\",20,0.05",
                            "epsilon,bound,alpha\n\n0.1,20,0.05\r\n\r\n1,20,0.05\n\n\n"}) {
    const Result result = on_input(bench, kSnapping, table);
    CAPTURE(table, result.err);
    CHECK(result.exit == 0);
    CHECK(result.out == plain);
  }
}

TEST_CASE("batch: a header without rows gives a header without rows", "[cli][batch]") {
  const Workbench bench;
  const Result result = on_input(bench, kSnapping, "epsilon,bound\n");
  CHECK(result.exit == 0);
  CHECK(result.out == "epsilon,bound,scale,grid,within,error\n");
}

TEST_CASE("batch: with --json each row is one line, an object or an error", "[cli][batch][json]") {
  const Workbench bench;
  const Result result =
      on_input(bench, with(kSnapping, {"--json"}), "epsilon,bound\n0.1,20\n\n-1,20\n0.1,20\n");
  CHECK(result.exit == 3);
  CHECK(lines(result.out) == 3);
  std::istringstream stream(result.out);
  std::vector<json> objects;
  for (std::string line; std::getline(stream, line);) objects.push_back(json::parse(line));
  json single = bench
                    .run({"accuracy", "snapping", "--epsilon", "0.1", "--sensitivity", "1", "--bound", "20",
                          "--arithmetic", "exact", "--json"})
                    .json();
  single["line"] = 2;
  CHECK(objects.at(0) == single);
  CHECK(objects.at(1).at("line") == 4);
  CHECK(objects.at(1).at("error").at("code") == "usage");
  CHECK(contains(objects.at(1).at("error").at("message").get<std::string>(), "--epsilon: '-1'"));
  single["line"] = 5;
  CHECK(objects.at(2) == single);
}

TEST_CASE("batch: a file that cannot be read ends with 3 and one line", "[cli][batch][negative]") {
  const Workbench bench;
  for (const char* file : {"absent.csv", "."}) {
    Words words = kSnapping;
    words.back() = file;
    const Result result = bench.run(words);
    CAPTURE(file, result.err);
    CHECK(result.exit == 3);
    CHECK(result.out.empty());
    CHECK(lines(result.err) == 1);
    CHECK(contains(result.err, std::string("--batch ") + file));
  }
}

TEST_CASE("batch: a full disk ends it with exit code 1", "[cli][batch][negative]") {
  const Workbench bench;
  Streams streams;
  streams.input = "epsilon,bound\n0.1,20\n";
  streams.output_file = "/dev/full";
  CHECK(bench.run(kSnapping, streams).exit == 1);
}

TEST_CASE("batch: 5000 rows are answered by one process, each as it would be alone", "[cli][batch]") {
  const Workbench bench;
  std::ostringstream table;
  table << "epsilon,bound,alpha\n";
  constexpr std::size_t kRows = 5000;
  const auto is_bad = [](std::size_t i) { return i % 100 == 7; };
  for (std::size_t i = 0; i < kRows; ++i) {
    if (is_bad(i)) {
      table << "0.1,-" << i << ",0.05\n";
    } else {
      table << "1/" << i + 1 << "," << 10 + 3 * i << ",0.0" << 1 + i % 9 << "\n";
    }
  }
  const Result result = on_input(bench, kSnapping, table.str());
  check_ended(result, 3, "50 of 5000 rows");
  const CsvTable rows = CsvTable::read(result.out);
  REQUIRE(rows.rows.size() == kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    CAPTURE(i);
    REQUIRE(rows.at(i, "within").empty() == is_bad(i));
    REQUIRE(rows.at(i, "error").empty() != is_bad(i));
    if (!is_bad(i)) REQUIRE(rows.at(i, "epsilon") == "1/" + std::to_string(i + 1));
  }
  for (std::size_t i = 0; i < kRows; i += 333) {
    const Result alone = bench.run({"accuracy", "snapping", "--sensitivity", "1", "--arithmetic", "exact",
                                    "--epsilon", rows.at(i, "epsilon"), "--bound", rows.at(i, "bound"),
                                    "--alpha", rows.at(i, "alpha"), "--quiet"});
    CHECK(alone.out == rows.at(i, "within") + "\n");
  }
}

TEST_CASE("batch: a row is answered before the next is written, at the other end of a pipe", "[cli][batch]") {
  const std::string good = good_accuracy(Workbench());
  int to_command[2];
  int from_command[2];
  REQUIRE(pipe(to_command) == 0);
  REQUIRE(pipe(from_command) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (dup2(to_command[0], STDIN_FILENO) < 0 || dup2(from_command[1], STDOUT_FILENO) < 0) _exit(125);
    for (const int end : {to_command[0], to_command[1], from_command[0], from_command[1]}) close(end);
    std::vector<char*> words{const_cast<char*>("epsilog")};
    for (const std::string& word : kSnapping) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(EPSILOG_COMMAND, words.data());
    _exit(126);
  }
  close(to_command[0]);
  close(from_command[1]);
  const auto say = [&](const std::string& text) {
    return write(to_command[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  };
  // The limit only keeps a failing test from waiting for ever.
  const auto hear = [&] {
    std::string line;
    pollfd waiting{from_command[0], POLLIN, 0};
    for (char c = 0; c != '\n' && poll(&waiting, 1, 60'000) == 1 && read(from_command[0], &c, 1) == 1;) {
      line += c;
    }
    return line;
  };
  CHECK(say("epsilon,bound\n0.1,"));
  CHECK(hear() == "epsilon,bound,scale,grid,within,error\n");
  CHECK(say("20\n"));
  CHECK(hear() == "0.1,20,10,16," + good + ",\n");
  CHECK(say("0.1,20\n"));
  CHECK(hear() == "0.1,20,10,16," + good + ",\n");
  close(to_command[1]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  close(from_command[0]);
}
