// Heads to test the reader with: good ones, and what makes each of them bad.
#pragma once

#include <string>
#include <vector>

namespace epsilog::test {

/// Requests that are whole, some with a body, each another way to be good.
inline const std::vector<std::string>& good_requests() {
  static const std::vector<std::string> requests = {
      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /v1/decisions?limit=10&cursor=abc%3D HTTP/1.1\r\nHost:x\r\nAccept: */*\r\nUser-Agent: "
      "curl/7.88.1\r\n\r\n",
      "POST /v1/releases HTTP/1.1\r\nHost: localhost:8080\r\nContent-Type: "
      "application/json\r\nContent-Length: 13\r\n"
      "Idempotency-Key: wards 65\r\n\r\n{\"epsilon\":1}",
      "PUT /v1/policy HTTP/1.1\r\nhost: [::1]:80\r\nCONTENT-LENGTH:    2   \r\nIf-Match: \"sha256:00\"\r\n"
      "Expect: 100-Continue\r\n\r\n{}",
      "DELETE /v1/verifications/7 HTTP/1.1\r\nHost: a\r\nConnection: keep-alive , Close\r\nContent-Length: "
      "0\r\n\r\n",
      "POST /v1/requests/01J/commit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer eps_1_x\r\nContent-Length: "
      "4\r\n"
      "X-Empty:\r\n\r\n\r\n\r\n",
  };
  return requests;
}

}  // namespace epsilog::test
