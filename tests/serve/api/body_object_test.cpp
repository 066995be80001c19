#include "body_object.hpp"

#include "served_clinic.hpp"
#include "support/catch.hpp"

using epsilog::serve::BadBody;
using epsilog::serve::BodyObject;
using epsilog::serve::parse_body;
using epsilog::test::json;
using epsilog::test::kAlice;
using epsilog::test::Reply;
using epsilog::test::ServedClinic;

TEST_CASE("a number of a body is the text that was sent, whatever a double would make of it", "[api]") {
  BodyObject body(
      R"({"a": 0.1, "b": 0.10000000000000000555, "c": 12345678901234567890123, "d": "1/3", "e": 1e-300})");
  CHECK(body.number("a") == "0.1");
  CHECK(body.number("b") == "0.10000000000000000555");
  CHECK(body.number("c") == "12345678901234567890123");
  CHECK(body.number("d") == "1/3");
  CHECK(body.number("e") == "1e-300");
  CHECK_NOTHROW(body.expect_no_more());
}

TEST_CASE("what is said of a text goes on behind a NUL in it", "[api]") {
  ServedClinic clinic;
  for (const char* member : {R"("statistic":"co\u0000unt")", R"("statistic":"mean:co\u0000st")",
                             R"("by":"wa\u0000rd")", R"("where":"ward = 'A\u0000B'")",
                             R"("epsilon":"0.\u00001")", R"("key":"a\u0000b")", R"("si\u0000ze":1)"}) {
    CAPTURE(member);
    json body = json::parse(clinic.asks("0.01"));
    body.update(json::parse("{" + std::string(member) + "}"));
    const Reply one = clinic.ask(kAlice, "POST", "/v1/releases", body.dump());
    const Reply several = clinic.ask(kAlice, "POST", "/v1/releases", json{{"requests", {body}}}.dump());
    CHECK(one.status >= 400);
    const std::string detail = one.body.at("detail");
    const std::size_t nul = std::min(detail.find("\\x00"), detail.find('\0'));
    // Of a key nothing is quoted.
    if (detail != "key: contains a control character") CHECK(nul < detail.size() - 4);
    CHECK(several.body.at("detail") == "requests[0]: " + detail);
  }
}

TEST_CASE("a member that is absent is as one that is null", "[api]") {
  BodyObject body(R"({"a": null})");
  CHECK_FALSE(body.string("a"));
  CHECK_FALSE(body.string("b"));
  CHECK_FALSE(BodyObject("").boolean("c"));
}

TEST_CASE("a body that could be read in two ways, or not at all, is refused", "[api]") {
  for (const char* text :
       {R"({"a":1,"a":1})", R"({"a":1}{)", R"({"a":1} x)", R"({"a":NaN})", R"({"a":Infinity})", R"({"a":-})",
        R"({"a":01})", R"({'a':1})", R"({"a":1,})", R"([])", "1", "\"a\"", "null", "{", R"({"a":"\ud800"})",
        "{\"a\":\"\xff\"}", "\xef\xbb\xbf{", R"({"a":1e999})",
        R"({"a":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(BodyObject(text), BadBody);
  }
}

TEST_CASE("a body has no more members and values than any request, however short it is", "[api]") {
  const auto object = [](int members) {
    std::string text = "{";
    for (int i = 0; i < members; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  CHECK_NOTHROW(parse_body(object(256)));
  CHECK_THROWS_AS(parse_body(object(257)), BadBody);
  const auto list = [](std::size_t values) {
    std::string text = "[";
    for (std::size_t i = 1; i < values; ++i) text += i == 1 ? "0" : ",0";
    return text + "]";
  };
  CHECK_NOTHROW(parse_body(list(32'768)));
  CHECK_THROWS_AS(parse_body(list(32'769)), BadBody);
  std::string objects = "[";
  for (int i = 1; i < 32'769; ++i) objects += i == 1 ? "{}" : ",{}";
  CHECK_THROWS_AS(parse_body(objects + "]"), BadBody);
}

TEST_CASE("a list is taken out of an object with what is in it", "[api]") {
  BodyObject body(R"({"requests": [{"a": 1}, 2], "none": null})");
  const auto items = body.take_list("requests");
  REQUIRE(items);
  CHECK(items->size() == 2);
  CHECK(BodyObject(items->front()).number("a") == "1");
  CHECK_THROWS_AS(BodyObject(items->back()), BadBody);
  CHECK_FALSE(body.take_list("none"));
  CHECK_FALSE(body.take_list("absent"));
  CHECK_THROWS_AS(BodyObject(R"({"a": {}})").take_list("a"), BadBody);
}

TEST_CASE("a member of another kind, and one that is not known, is named", "[api]") {
  const auto message = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const BadBody& bad) {
      return bad.what();
    }
    return "";
  };
  CHECK(message([] { (void)BodyObject(R"({"why": 1})").string("why"); }) == "why: a string is expected");
  CHECK(message([] { (void)BodyObject(R"({"x": true})").number("x"); }) ==
        "x: a number is expected, or a string that holds one");
  CHECK(message([] { (void)BodyObject(R"({"x": 1})").boolean("x"); }) == "x: true or false is expected");
  CHECK(message([] { (void)BodyObject(R"({"x": [1, {}]})").numbers("x"); }) ==
        "x: a list of numbers is expected");
  CHECK(message([] { (void)BodyObject(R"({"x": ""})").required_string("x"); }) == "x: is required");
  CHECK(message([] {
          BodyObject body(R"({"epsilo": 1})");
          (void)body.number("epsilon");
          body.expect_no_more();
        }) == "'epsilo' is not known here; did you mean 'epsilon'?");
}

TEST_CASE("the same name in objects within each other is two names", "[api]") {
  CHECK_NOTHROW(parse_body(R"({"a":{"a":[{"a":1},{"a":2}]}})"));
  CHECK_THROWS_AS(parse_body(R"({"a":{"b":1,"b":2}})"), BadBody);
}
