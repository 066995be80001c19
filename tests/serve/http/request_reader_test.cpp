// The reader of requests: what it takes it takes in one way, and everything else is refused.
#include "request_reader.hpp"

#include "heads.hpp"
#include "request_transcript.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using serve::HeadLimits;
using serve::MalformedRequest;
using State = serve::RequestReader::State;

namespace {

test::ReadRequest read_first(const std::string& text, const HeadLimits& limits = {}) {
  return test::transcript(text, {}, limits).front();
}

/// The status and code with which it is refused; 0 if it is not.
struct Refused {
  int status = 0;
  std::string code;

  friend bool operator==(const Refused&, const Refused&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Refused& refused) {
    return out << refused.status << ' ' << refused.code;
  }
};
const Refused kBad{400, "malformed_request"};
const Refused kTaken{};

Refused refused(const std::string& text, const HeadLimits& limits = {}) {
  const test::ReadRequest request = read_first(text, limits);
  if (request.state != State::malformed) {
    CHECK(request.state == State::complete);
    return kTaken;
  }
  CHECK(!request.fault.message.empty());
  return {request.fault.status, std::string(request.fault.code)};
}

std::string head_of(const std::string& first_line, const std::string& headers = "Host: a\r\n") {
  return first_line + "\r\n" + headers + "\r\n";
}
Refused with_line(const std::string& first_line) {
  return refused(head_of(first_line));
}
Refused with_headers(const std::string& headers) {
  return refused(head_of("GET / HTTP/1.1", "Host: a\r\n" + headers));
}

/// The rows of a kind of parts_of_requests.tsv.
std::vector<std::string> parts(std::string_view kind) {
  std::vector<std::string> texts;
  for (CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/http/parts_of_requests.tsv")) {
    if (row.at(0) == kind) texts.push_back(std::move(row.at(1)));
  }
  REQUIRE_FALSE(texts.empty());
  return texts;
}

std::size_t head_length(const std::string& request) {
  return request.find("\r\n\r\n") + 4;
}

}  // namespace

TEST_CASE("a request: its parts are read as they were sent", "[serve][http][reader]") {
  const test::ReadRequest request = read_first(
      "POST /v1/%C3%A9?a=1&b= HTTP/1.1\r\nHost: localhost\r\nX-Thing:  two  blanks  \r\nCONTENT-length: "
      "3\r\n\r\nabcdef");
  REQUIRE(request.state == State::complete);
  CHECK(request.head.method == "POST");
  CHECK(request.head.path == "/v1/\xC3\xA9");
  CHECK(request.head.query == std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", ""}});
  CHECK(request.head.headers == std::vector<serve::Header>{{"host", "localhost"},
                                                           {"x-thing", "two  blanks"},
                                                           {"content-length", "3"}});
  CHECK(request.head.content_length == 3U);
  CHECK(request.head.keep_alive);
  CHECK(request.body_bytes == 3);
  REQUIRE(request.head.header("x-thing") != nullptr);
  CHECK(*request.head.header("x-thing") == "two  blanks");
  CHECK(request.head.header("x-other") == nullptr);
  REQUIRE(request.head.parameter("b") != nullptr);
  CHECK(request.head.parameter("b")->empty());
  CHECK(request.head.parameter("c") == nullptr);
}

TEST_CASE("a request: what follows its end is the next one", "[serve][http][reader]") {
  std::string text;
  for (const std::string& request : test::good_requests()) text += request;
  const std::vector<test::ReadRequest> all = test::transcript(text + "GET /x");
  REQUIRE(all.size() == test::good_requests().size() + 1);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    INFO(i);
    CHECK(all[i].state == State::complete);
    CHECK(all[i] == read_first(test::good_requests()[i]));
  }
  CHECK(all.back().state == State::head);
  CHECK(all.back().head_bytes == 6);
}

TEST_CASE("a request: one that breaks off is never whole", "[serve][http][reader]") {
  for (const std::string& request : test::good_requests()) {
    for (std::size_t length = 0; length < request.size(); ++length) {
      const State state = read_first(request.substr(0, length)).state;
      INFO(length << " of " << request);
      CHECK(state == (length == 0 ? State::idle : length < head_length(request) ? State::head : State::body));
    }
  }
}

TEST_CASE("a request: a byte that is no text is refused wherever it stands in the head",
          "[serve][http][reader]") {
  std::vector<char> bytes = {'\r', '\n', '\x7f'};
  for (char c = 0; c < ' '; ++c) {
    if (c != '\r' && c != '\n') bytes.push_back(c);
  }
  for (int c = 0x80; c < 0x100; c += 5) bytes.push_back(static_cast<char>(static_cast<unsigned char>(c)));
  std::size_t wrong = 0;
  std::size_t tried = 0;
  for (const std::string& request : test::good_requests()) {
    for (std::size_t at = 0; at < head_length(request); ++at) {
      for (const char byte : bytes) {
        const std::string inserted = request.substr(0, at) + byte + request.substr(at);
        std::string replaced = request;
        replaced[at] = byte;
        tried += 2;
        // A LF before the last LF stands after the head.
        const bool after = inserted.starts_with(request.substr(0, head_length(request)));
        if (!after && refused(inserted) != kBad) ++wrong;
        // In the place of its own line end it changes nothing.
        if (replaced != request && read_first(replaced).state != State::malformed) ++wrong;
      }
    }
  }
  CHECK(tried > 50'000);
  CHECK(wrong == 0);
}

TEST_CASE("a request: without a CR or LF of its head it is not taken", "[serve][http][reader]") {
  for (const std::string& request : test::good_requests()) {
    for (std::size_t at = 0; at < head_length(request); ++at) {
      if (request[at] != '\r' && request[at] != '\n') continue;
      INFO(at << " of " << request);
      // The last LF may be the body's first, if that is where one stands.
      const std::string without = request.substr(0, at) + request.substr(at + 1);
      CHECK((read_first(without).state == State::malformed || read_first(without).state == State::head));
    }
    std::string bare;
    for (const char c : request) {
      if (c != '\r') bare += c;
    }
    CHECK(refused(bare) == kBad);
  }
}

TEST_CASE("a request: its first line is METHOD TARGET HTTP/1.1 and nothing else", "[serve][http][reader]") {
  for (const std::string& line : parts("line taken")) {
    INFO(line);
    CHECK(with_line(line) == kTaken);
  }
  for (const std::string& line : parts("line refused")) {
    INFO(line);
    CHECK(with_line(line) == kBad);
  }
  CHECK(refused("\r\n" + test::good_requests().front()) ==
        kBad);  // although RFC 9112, 2.2, would let it pass
  for (const char* const version : {"0.9", "1.0", "1.2", "1.9", "2.0", "3.0", "0.0", "9.9"}) {
    INFO(version);
    CHECK(with_line(std::string("GET / HTTP/") + version) == Refused{505, "version_not_supported"});
  }
  CHECK(with_line("PRI * HTTP/2.0") == Refused{505, "version_not_supported"});
  CHECK(with_line("ABCDEFGHIJKLMNOPQ / HTTP/1.1") == Refused{501, "not_implemented"});
}

TEST_CASE("a request: a header that is not NAME: VALUE on one line is refused", "[serve][http][reader]") {
  for (const std::string& header : parts("header taken")) {
    INFO(header);
    CHECK(with_headers(std::string(header) + "\r\n") == kTaken);
  }
  for (const std::string& header : parts("header refused")) {
    for (const char* const after : {"", "Y: b\r\n"}) {
      INFO(header << '|' << after);
      CHECK(with_headers(std::string(header) + "\r\n" + after) == kBad);
      CHECK(refused(head_of("GET / HTTP/1.1", std::string(header) + "\r\nHost: a\r\n" + after)) == kBad);
    }
  }
  // Folded: the next line goes on with the value before.
  for (const char* const name :
       {"X", "Host", "Content-Length", "Transfer-Encoding", "Authorization", "Expect"}) {
    for (const char* const fold : {" a", "  a", " ", " 1", "\ta", " : a", " chunked"}) {
      INFO(name << '|' << fold);
      CHECK(refused(head_of("GET / HTTP/1.1", std::string(name) + ": a\r\n" + fold + "\r\n")) == kBad);
    }
  }
}

TEST_CASE("a request: no header comes twice, whatever its case, value and place", "[serve][http][reader]") {
  for (const std::string& row : parts("name")) {
    const std::vector<std::string> spellings = words_of(row);
    const std::string& name = spellings.front();
    const std::string host = name == "Host" ? "" : "Host: a\r\n";
    const std::string value = name == "Content-Length" ? "0" : name == "Expect" ? "100-continue" : "a";
    const Refused once = name == "Transfer-Encoding" ? Refused{501, "not_implemented"} : kTaken;
    CHECK(refused(head_of("GET / HTTP/1.1", host + name + ": " + value + "\r\n")) == once);
    for (const std::string& other : spellings) {
      for (const std::string& second : {value, std::string("5"), std::string()}) {
        for (const char* const between : {"", "Y: b\r\n", "Y: b\r\nZ: c\r\n"}) {
          const std::string headers = name + ": " + value + "\r\n" + between + other + ": " + second + "\r\n";
          INFO(headers);
          CHECK(refused(head_of("GET / HTTP/1.1", host + headers)) == kBad);
          CHECK(refused(head_of("GET / HTTP/1.1", headers + host)) == kBad);
        }
      }
    }
  }
}

TEST_CASE("a request: there is one way to say how long its body is", "[serve][http][reader]") {
  for (const char* const length : {"0", " 0 ", "  0", "0  "}) {
    INFO(length);
    CHECK(with_headers(std::string("Content-Length:") + length + "\r\n") == kTaken);
  }
  CHECK(!read_first(head_of("GET / HTTP/1.1")).head.content_length.has_value());
  CHECK(read_first(head_of("GET / HTTP/1.1", "Host: a\r\nContent-Length: 0\r\n")).head.content_length == 0U);
  CHECK(read_first(head_of("GET / HTTP/1.1", "Host: a\r\nContent-Length: 999999999999999999\r\n"))
            .head.content_length == 999'999'999'999'999'999U);
  for (const std::string& length : parts("length refused")) {
    INFO(length);
    CHECK(with_headers("Content-Length: " + length + "\r\n") == kBad);
  }
  for (const std::string& coding : parts("coding")) {
    const bool chunked = coding == "chunked" || coding == "Chunked";
    const Refused alone = chunked ? Refused{411, "length_required"} : Refused{501, "not_implemented"};
    const std::string line = "Transfer-Encoding: " + coding + "\r\n";
    INFO(line);
    CHECK(with_headers(line) == alone);
    for (const std::string& length : {std::string("0"), std::string("5"), std::string("x")}) {
      CHECK(with_headers(line + "Content-Length: " + length + "\r\n") == kBad);
      CHECK(with_headers("Content-Length: " + length + "\r\nX: y\r\n" + line) == kBad);
    }
  }
}

TEST_CASE("a request: it has one Host, which is a name or an address", "[serve][http][reader]") {
  const auto with_host = [](const std::string& host) {
    return refused(head_of("GET / HTTP/1.1", "Host: " + host + "\r\n"));
  };
  CHECK(refused(head_of("GET / HTTP/1.1", "")) == kBad);
  CHECK(refused(head_of("GET / HTTP/1.1", "X: y\r\n")) == kBad);
  for (const std::string& host : parts("host taken")) {
    INFO(host);
    CHECK(with_host(host) == kTaken);
  }
  for (const std::string& host : parts("host refused")) {
    INFO(host);
    CHECK(with_host(host) == kBad);
  }
}

TEST_CASE("a request: nothing but 100-continue can be expected", "[serve][http][reader]") {
  for (const char* const expected : {"100-continue", "100-CONTINUE"}) {
    CHECK(with_headers(std::string("Expect: ") + expected + "\r\n") == kTaken);
  }
  for (const std::string& expected : parts("expectation refused")) {
    INFO(expected);
    CHECK(with_headers(std::string("Expect: ") + expected + "\r\n") == Refused{417, "expectation_failed"});
  }
}

TEST_CASE("a request: its connection is kept unless it says otherwise", "[serve][http][reader]") {
  const auto keeps = [](const std::string& options) {
    return read_first(head_of("GET / HTTP/1.1", "Host: a\r\nConnection: " + options + "\r\n"))
        .head.keep_alive;
  };
  for (const std::string& options : parts("connection kept")) {
    INFO(options);
    CHECK(keeps(options));
  }
  for (const std::string& options : parts("connection closed")) {
    INFO(options);
    CHECK(!keeps(options));
  }
  for (const std::string& options : parts("connection refused")) {
    INFO(options);
    CHECK(with_headers(std::string("Connection: ") + options + "\r\n") == kBad);
  }
}

TEST_CASE("a request: it is refused as soon as it is above a limit, and not before",
          "[serve][http][reader]") {
  const HeadLimits small{.head_bytes = 100, .target_bytes = 20, .headers = 3, .parameters = 2};
  const std::string head = head_of("GET / HTTP/1.1");
  const auto padded = [&](std::size_t bytes) {
    return head_of("GET / HTTP/1.1", "Host: a\r\nX: " + std::string(bytes - head.size() - 5, 'y') + "\r\n");
  };
  CHECK(padded(100).size() == 100);
  CHECK(refused(padded(100), small) == kTaken);
  CHECK(refused(padded(101), small) == Refused{431, "head_too_large"});
  CHECK(read_first(padded(500), small).head_bytes == 101);

  const auto target = [](std::size_t bytes) { return "GET /" + std::string(bytes - 1, 'a') + " HTTP/1.1"; };
  CHECK(refused(head_of(target(20)), small) == kTaken);
  CHECK(refused(head_of(target(21)), small) == Refused{414, "target_too_long"});
  CHECK(read_first(head_of(target(90)), small).head_bytes == 4 + 21);
  CHECK(refused(head_of(target(8000))) == kTaken);
  CHECK(refused(head_of(target(8001))) == Refused{414, "target_too_long"});

  CHECK(refused(head_of("GET / HTTP/1.1", "Host: a\r\nA: 1\r\nB: 2\r\n"), small) == kTaken);
  CHECK(refused(head_of("GET / HTTP/1.1", "Host: a\r\nA: 1\r\nB: 2\r\nC: 3\r\n"), small) ==
        Refused{431, "head_too_large"});
  std::string many = "Host: a\r\n";
  for (int i = 1; i < 64; ++i) many += "h" + std::to_string(i) + ": v\r\n";
  CHECK(refused(head_of("GET / HTTP/1.1", many)) == kTaken);
  CHECK(refused(head_of("GET / HTTP/1.1", many + "h64: v\r\n")) == Refused{431, "head_too_large"});

  CHECK(refused(head_of("GET /?a=&b= HTTP/1.1"), small) == kTaken);
  CHECK(refused(head_of("GET /?a=&b=&c= HTTP/1.1"), small) == kBad);
  CHECK(read_first(std::string(40, 'A')).head_bytes == 17);  // a method that does not end
}

TEST_CASE("a request: nothing that was sent is in the words with which it is refused",
          "[serve][http][reader]") {
  for (const std::string& bad : {head_of("GET /zqjx/.. HTTP/1.1"), head_of("GET / HTTP/1.1", "zqjx\r\n"),
                                 head_of("GET / HTTP/1.1", "Host: zqjx@\r\n"), head_of("zqjx")}) {
    const test::ReadRequest request = read_first(bad);
    REQUIRE(request.state == State::malformed);
    CHECK(request.fault.message.find("zqjx") == std::string_view::npos);
  }
}
