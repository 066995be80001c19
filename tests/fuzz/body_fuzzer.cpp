// The body of a request to the daemon, as each of the four kinds: what is taken is JSON to another parser too, and asks
// as the caller and, where no key makes it a retry, what the caller may ask.
#include <nlohmann/json.hpp>

#include "body_object.hpp"
#include "caller.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/concealed_dataset.hpp"
#include "fuzz_target.hpp"
#include "ledger_view.hpp"
#include "parsed_request.hpp"
#include "problem.hpp"

namespace {

const epsilog::serve::Caller& fuzz_caller() {
  static const epsilog::serve::Caller caller = [] {
    auto view = std::make_shared<epsilog::serve::AccessView>();
    view->policy = epsilog::engine::Policy::parse_stored(
        "version: 1\nprincipals: {ann: {}}\ndatasets:\n  clinic:\n    source: {csv: visits.csv}\n"
        "    unit: {id: patient_id, max_rows: 3}\n    rows: {max: 100000}\n    neighbours: add-remove\n"
        "    budget: {epsilon: 3}\n    columns:\n      age: {type: int, bounds: [0, 110]}\n"
        "      ward: {type: string, values: [A, B, C]}\n",
        "policy.yaml");
    const epsilog::engine::Principal* ann = view->policy.principal("ann");
    return epsilog::serve::Caller{.actor = "ann", .view = view, .principal = ann};
  }();
  return caller;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace epsilog;
  const std::string_view body = fuzz::text_of(data, size);
  try {
    static_cast<void>(serve::parse_body(body));
    fuzz::require(nlohmann::json::accept(body), "a body that is taken is JSON");
  } catch (const serve::BadBody&) {
  }
  for (const auto kind : {serve::RequestKind::plan, serve::RequestKind::forecast, serve::RequestKind::release,
                          serve::RequestKind::reservation}) {
    try {
      const serve::ParsedRequest parsed =
          serve::parse_request(body, serve::RequestHead{}, fuzz_caller(), kind);
      ++fuzz::accepted_count;
      // What bears a key may be a retry, which the engine decides.
      const bool asks = kind == serve::RequestKind::plan || kind == serve::RequestKind::forecast;
      fuzz::require(!asks || parsed.request.dataset == "clinic", "only a dataset of the caller is asked");
      fuzz::require(parsed.request.principal == "ann", "a request is that of the caller");
    } catch (const serve::BadBody&) {
    } catch (const InvalidParameter&) {
    } catch (const serve::HttpProblem&) {
    } catch (const engine::ConcealedDataset&) {
    }
  }
  return 0;
}
