// Responses: what is written ends where it says, whatever it is made of.
#include "response_text.hpp"

#include <regex>
#include <set>

#include "epsilog/accounting/errors.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using serve::Response;

TEST_CASE("a response: length, type, caching and the end of the connection are written",
          "[serve][http][response]") {
  const Response response{.status = 201,
                          .headers = {{"etag", "\"sha256:00\""}},
                          .content_type = "application/json",
                          .body = "{}\n"};
  CHECK(serve::response_head(response) ==
        "HTTP/1.1 201 Created\r\nContent-Length: 3\r\nContent-Type: application/json\r\nCache-Control: "
        "no-store\r\n"
        "X-Content-Type-Options: nosniff\r\netag: \"sha256:00\"\r\n\r\n");
  CHECK(serve::response_head(Response{.status = 503, .close = true}) ==
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
  CHECK(serve::response_head(Response{.status = 204}) ==
        "HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n");
  CHECK(serve::response_head(Response{.status = 299}).starts_with("HTTP/1.1 299 \r\n"));
}

TEST_CASE("a response: every status that the documents name has its reason phrase",
          "[serve][http][response]") {
  std::set<int> statuses;
  for (const char* page : {"/docs/api.md", "/docs/daemon.md", "/schema/openapi.json"}) {
    const std::string text = read_file(EPSILOG_SOURCE_DIR + std::string(page));
    // In a table, as a key of the document, or as what an answer is said to be.
    const std::regex status(R"rx((?:\| |, |")([2-5]\d\d)(?: \||,|"))rx");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), status); at != std::sregex_iterator(); ++at)
      statuses.insert(std::stoi((*at)[1]));
  }
  CHECK(statuses.size() > 20);
  for (const int status : statuses) {
    CAPTURE(status);
    const std::string line = serve::response_head(Response{.status = status});
    CHECK(line.substr(0, line.find('\r')).size() > std::string("HTTP/1.1 200 ").size());
  }
}

TEST_CASE("a response: to HEAD there is the head alone", "[serve][http][response]") {
  const Response response{.content_type = "text/plain", .body = "x"};
  CHECK(serve::sends_body(response, "GET"));
  CHECK(serve::sends_body(response, "head"));  // another method
  CHECK(!serve::sends_body(response, "HEAD"));
  CHECK(!serve::sends_body(Response{}, "GET"));
}

TEST_CASE("a response: a header with which it could be split is not written", "[serve][http][response]") {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<unsigned char>(byte));
    const std::string value = std::string("a") + c + "b";
    const bool printable = c >= ' ' && c <= '~';
    INFO(byte);
    const Response in_value{.headers = {{"x-a", value}}};
    const Response in_type{.content_type = value, .body = "x"};
    const Response in_name{.headers = {{value, "a"}}};
    for (const Response& response : {in_value, in_type}) {
      if (printable) {
        const std::string head = serve::response_head(response);
        CHECK(head.find("\r\n\r\n") == head.size() - 4);
      } else {
        CHECK_THROWS_AS(serve::response_head(response), InvalidParameter);
      }
    }
    const bool in_token =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
        (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
    if (in_token) {
      CHECK_NOTHROW(serve::response_head(in_name));
    } else {
      CHECK_THROWS_AS(serve::response_head(in_name), InvalidParameter);
    }
  }
}

TEST_CASE("a response: what would say its end in another way is not written", "[serve][http][response]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/http/responses_not_written.tsv")) {
    Response response{.status = std::stoi(row.at(0)), .content_type = row.at(1), .body = row.at(2)};
    for (std::size_t i = 3; i + 1 < row.size(); i += 2) response.headers.push_back({row[i], row[i + 1]});
    CAPTURE(row);
    CHECK_THROWS_AS(serve::response_head(response), InvalidParameter);
  }
}
