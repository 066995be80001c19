// Folders below which a policy may name files: by where a file really is, when a policy is applied, when a
// source is relocated, and when it is read.
#include "folder_faults.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "refused_for.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

/// in/ is open, in2/ and out/ are not; what links lead out.
struct Tree {
  Tree() {
    for (const char* name : {"in", "in/deep", "in2", "out"}) fs::create_directory(folder.path(name));
    for (const char* name : {"in/a.csv", "in/deep/a.csv", "in2/a.csv", "out/a.csv"}) {
      (void)folder.write(name, kVisits);
    }
    fs::create_symlink(folder.path("out/a.csv"), folder.path("in/link.csv"));
    fs::create_symlink(folder.path("in/a.csv"), folder.path("out/inwards.csv"));
    fs::create_symlink(folder.path("out/none.csv"), folder.path("in/dangling.csv"));
    fs::create_symlink("loop.csv", folder.path("in/loop.csv"));
    fs::create_directory_symlink(folder.path("out"), folder.path("in/away"));
    fs::create_directory_symlink(folder.path("in"), folder.path("alias"));
  }
  [[nodiscard]] engine::Folders open() const {
    const std::vector<std::string> in{folder.path("in")};
    return {.sources = in, .replicas = in, .checkpoints = in};
  }
  TemporaryFolder folder;
};

std::vector<CaseRow> places() {
  return case_table(EPSILOG_SOURCE_DIR "/tests/engine/release/places.tsv");
}

/// The clinic in in/, with its source as told and what else is added to the policy.
struct Housed {
  explicit Housed(const Tree& tree, const std::string& source = "in/a.csv")
      : policy(tree.folder.write("policy.yaml", yaml(source))), ledger(tree.folder.path("clinic.ledger")) {
    (void)engine::Engine::init(policy, ledger, "curator");
  }
  static std::string yaml(const std::string& source, const std::string& more = "",
                          const std::string& budget = "epsilon: 3") {
    std::string text = clinic_policy(budget, "principals: {alice: {}}\n" + more);
    return text.replace(text.find("visits.csv"), 10, source);
  }
  [[nodiscard]] engine::Engine open(const engine::Folders& folders) const {
    engine::EngineOptions options;
    options.folders = folders;
    return engine::Engine::open(ledger, options);
  }
  std::string policy, ledger;
};

std::vector<std::string> faults_of(engine::Engine& engine, const std::string& yaml) {
  const engine::PolicyUpload text{.yaml = yaml};
  std::vector<std::string> told, thrown;
  for (const PolicyFault& fault : engine.review(text).refused) told.push_back(fault.text());
  try {
    (void)engine.apply_policy(text, "curator", "test");
  } catch (const PolicyError& error) {
    for (const PolicyFault& fault : error.faults()) thrown.push_back(fault.text());
  }
  CHECK(told == thrown);
  return told;
}

}  // namespace

TEST_CASE("folders: a file lies where its links lead, and nowhere if they lead nowhere",
          "[engine][folders]") {
  const Tree tree;
  const auto below = [&](const std::vector<std::string>& folders, const std::string& path) {
    const auto place = engine::resolve_below(folders, tree.folder.path(path));
    return place ? fs::relative(*place, fs::canonical(tree.folder.path("."))).string() : "";
  };
  for (const CaseRow& row : places()) {
    const std::string& path = row.at(0);
    const std::string& real = row.at(1);
    CAPTURE(path);
    CHECK(below({tree.folder.path("in")}, path) == real);
    CHECK(below({tree.folder.path("alias/")}, path) == real);  // the folder may be a link itself
    CHECK(below({tree.folder.path("nowhere"), tree.folder.path("in/deep/..")}, path) == real);
    CHECK(below({}, path).empty());
    CHECK(below({tree.folder.path("nowhere")}, path).empty());
    CHECK(below({tree.folder.path("in/a.csv")}, path).empty());
  }
}

TEST_CASE("folders: a policy is refused at the key whose file is elsewhere", "[engine][folders][negative]") {
  const Tree tree;
  const Housed housed(tree);
  engine::Engine engine = housed.open(tree.open());
  CHECK(engine.folder_faults().empty());
  for (const CaseRow& row : places()) {
    const std::string& path = row.at(0);
    const std::string& real = row.at(1);
    CAPTURE(path);
    const std::string other = clinic_policy("epsilon: 3");  // a second dataset, so that nothing is charged
    const std::string second = "  second:\n" + other.substr(other.find("    source"));
    std::string yaml = Housed::yaml("in/a.csv");
    yaml.insert(yaml.find("principals:"), second);
    yaml.replace(yaml.find("visits.csv"), 10, "'" + path + "'");
    const std::vector<std::string> faults = faults_of(engine, yaml);
    if (!real.empty()) {
      CHECK(faults.empty());
    } else {
      REQUIRE(faults.size() == 1);
      CHECK(faults[0] == "policy:16:5: source: '" +
                             (fs::path(tree.folder.path(".")).lexically_normal() / path).string() +
                             "' is not below a folder that is open to policies here");
    }
    (void)engine.apply_policy(housed.policy, "curator", "back");
  }
  const auto in = [&](const std::string& name) { return tree.folder.path(name); };
  const auto also = [&](const std::string& more) {
    return faults_of(engine, Housed::yaml("in/a.csv", more));
  };
  CHECK(also("checkpoint: {key: " + in("in/key") + ", file: " + in("in/notes") + ", every: 1h}\n").empty());
  CHECK(also("replica: {file: " + in("in/replica") + "}\n").empty());
  for (const std::string& fault :
       {also("replica: {file: " + in("out/replica") + "}\n").at(0),
        also("checkpoint: {key: " + in("out/key") + ", file: " + in("in/notes") + ", every: 1h}\n").at(0),
        also("checkpoint: {key: " + in("in/key") + ", file: " + in("in/away/notes") + ", every: 1h}\n")
            .at(0)}) {
    CHECK_THAT(fault, Catch::Matchers::StartsWith("policy:16:1: "));
    CHECK_THAT(fault, Catch::Matchers::EndsWith("is not below a folder that is open to policies here"));
  }
  fs::create_symlink(in("out/state"), in("in/key.state"));
  CHECK(also("checkpoint: {key: " + in("in/key") + ", file: " + in("in/notes") + ", every: 1h}\n").size() ==
        1);
  // Each kind has folders of its own.
  (void)engine.apply_policy(housed.policy, "curator", "back");
  engine::Folders sources_only = tree.open();
  sources_only.replicas.clear();
  sources_only.checkpoints = {in("out")};
  engine::Engine strict = housed.open(sources_only);
  CHECK(faults_of(strict, Housed::yaml("in/a.csv", "replica: {file: " + in("in/replica") + "}\n")).size() ==
        1);
  CHECK(strict.review(housed.policy).refused.empty());
}

TEST_CASE("folders: a source is not read elsewhere, and who asked is told its dataset's name only",
          "[engine][folders][negative]") {
  const Tree tree;
  const Housed housed(tree, "in/here.csv");
  const std::string here = tree.folder.path("in/here.csv");
  const std::string closed = "dataset 'clinic': its source may not be read here";
  engine::Engine engine = housed.open(tree.open());
  fs::copy_file(tree.folder.path("out/a.csv"), here);
  mechanisms::SystemBits bits;
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  engine::Request held = request("count", "0.1");
  held.reservation = engine::ReservationKind::reserved;
  const std::string reserved = engine.reserve(held, {}).recorded.decision_id;

  fs::remove(here);
  fs::create_symlink(tree.folder.path("out/a.csv"), here);
  const std::int64_t before = engine.newest_seq();
  CHECK(engine.folder_faults().size() == 1);
  CHECK(refused_for<SourceError>([&] { return release(engine, request("count", "0.1")); }) == closed);
  const engine::Request two[] = {supplied("1", "0.1"), request("count", "0.1")};
  CHECK(refused_for<SourceError>([&] { return release_many(engine, two); }) == closed);
  CHECK(refused_for<SourceError>([&] { return commit(engine, reserved); }) == closed);
  CHECK(refused_for<SourceError>([&] {
          engine.submit(request("count", "0.1"), bits, {},
                        [](engine::SubmissionOutcome) { FAIL_CHECK("told"); });
          return 0;
        }) == closed);
  CHECK(engine.newest_seq() == before);
  // What reads no source does not mind, and who has no folders set reads it.
  CHECK(release(engine, supplied("1", "0.1")).recorded.granted);
  CHECK(engine.plan(request("count", "0.1"), {}).recorded.granted);
  engine::Engine anywhere = engine::Engine::open(housed.ledger);
  CHECK(release(anywhere, request("count", "0.1")).recorded.granted);
  CHECK(anywhere.folder_faults().empty());

  fs::remove(here);
  CHECK_THAT(refused_for<SourceError>([&] { return release(engine, request("count", "0.1")); }),
             test::says("epsilog relocate clinic"));  // it is not there, which may be told
  fs::copy_file(tree.folder.path("out/a.csv"), here);
  CHECK(commit(engine, reserved).recorded.granted);
}

TEST_CASE("folders: a source is not relocated out of them, nor left outside by a policy",
          "[engine][folders][relocate][negative]") {
  const Tree tree;
  const Housed housed(tree);
  engine::Engine engine = housed.open(tree.open());
  for (const char* path : {"out/a.csv", "in/link.csv", "in/away/a.csv", "in2/a.csv"}) {
    CAPTURE(path);
    CHECK(refused_for<PolicyError>([&] {
            return engine.relocate("clinic", tree.folder.path(path), "curator", "moved");
          }) == "the active policy:4:5: source: '" + tree.folder.path(path) +
                    "' is not below a folder that is open to policies here");
  }
  CHECK(engine.source_of("clinic") == tree.folder.path("in/a.csv"));
  CHECK(engine.relocate("clinic", tree.folder.path("in/deep/a.csv"), "curator", "moved").changed);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);

  // Somebody without folders moved it out: a policy that would leave it there is refused.
  engine::Engine anywhere = engine::Engine::open(housed.ledger);
  CHECK(anywhere.relocate("clinic", tree.folder.path("out/a.csv"), "curator", "moved").changed);
  CHECK(engine.folder_faults().size() == 1);
  CHECK(faults_of(engine, Housed::yaml("in/a.csv", "", "epsilon: 2")).size() == 1);
  CHECK(engine.relocate("clinic", tree.folder.path("in/a.csv"), "curator", "back").changed);
  CHECK(faults_of(engine, Housed::yaml("in/a.csv", "", "epsilon: 2")).empty());
}
