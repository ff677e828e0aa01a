// From one list of fields: the schema, what is read, and what is said about what cannot be.

#include <cmath>

#include "plugins/sdk/params.h"
#include "tests/support/catch.h"

using namespace thinkd::sdk;

namespace {

enum class Mode : uint8_t { calm, wild };

struct TestParams {
  uint32_t n = 8;
  double share = 0.5;
  bool loud = false;
  std::string step = "\n\n";
  Mode mode = Mode::wild;
  static Fields<TestParams> fields() {
    return {integer("n", &TestParams::n, 1, 4096, "how many"),
            number("share", &TestParams::share, 0, 1, "of \"all\""),
            boolean("loud", &TestParams::loud, "says more"),
            text("step", &TestParams::step, "ends a step"),
            choice("mode", &TestParams::mode, {{"calm", Mode::calm}, {"wild", Mode::wild}}, "how")};
  }
};

Param whole(std::string name, int64_t value) {
  return {.name = std::move(name), .kind = ParamKind::integer, .integer = value};
}
Param real(std::string name, double value) {
  return {.name = std::move(name), .kind = ParamKind::number, .number = value};
}
Param words(std::string name, std::string value) {
  return {.name = std::move(name), .kind = ParamKind::text, .text = std::move(value)};
}

std::string fault(const std::vector<Param>& params) {
  try {
    static_cast<void>(read_params<TestParams>(params, "toy"));
  } catch (const Failed& failed) {
    CHECK(failed.status() == THINKD_INVALID);
    return failed.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the schema lists every field with its range and default") {
  CHECK(params_schema<TestParams>() ==
        R"({"type":"object","properties":{)"
        R"("n":{"type":"integer","minimum":1,"maximum":4096,"default":8,"description":"how many"},)"
        R"("share":{"type":"number","minimum":0,"maximum":1,"default":0.5,)"
        R"("description":"of \"all\""},)"
        R"("loud":{"type":"boolean","default":false,"description":"says more"},)"
        R"("step":{"type":"string","default":"\u000a\u000a","description":"ends a step"},)"
        R"("mode":{"type":"string","enum":["calm","wild"],"default":"wild","description":"how"})"
        R"(},"additionalProperties":false})");
}

TEST_CASE("what is given is read, what is not keeps its default") {
  const TestParams none = read_params<TestParams>({}, "toy");
  CHECK(none.n == 8);
  CHECK(none.mode == Mode::wild);
  const TestParams all =
      read_params<TestParams>({whole("n", 4096),
                               whole("share", 1),
                               words("step", "."),
                               words("mode", "calm"),
                               {.name = "loud", .kind = ParamKind::boolean, .boolean = true}},
                              "toy");
  CHECK(all.n == 4096);
  CHECK(all.share == 1.0);
  CHECK(all.loud);
  CHECK(all.step == ".");
  CHECK(all.mode == Mode::calm);
}

TEST_CASE("faults name the parameter, the value and what it may be") {
  CHECK(fault({whole("n", 4097)}) ==
        "toy: parameter n is 4097; it must be an integer from 1 to 4096");
  CHECK(fault({whole("n", 0)}) == "toy: parameter n is 0; it must be an integer from 1 to 4096");
  CHECK(fault({whole("n", INT64_MIN)}) != "");
  CHECK(fault({real("n", 2.5)}) == "toy: parameter n is 2.5; it must be an integer from 1 to 4096");
  CHECK(fault({words("n", "8")}) ==
        "toy: parameter n is \"8\"; it must be an integer from 1 to 4096");
  CHECK(fault({real("share", 1.5)}) ==
        "toy: parameter share is 1.5; it must be a number from 0 to 1");
  CHECK(fault({real("share", std::nan(""))}) != "");
  CHECK(fault({whole("loud", 1)}) == "toy: parameter loud is 1; it must be true or false");
  CHECK(fault({whole("step", 1)}) == "toy: parameter step is 1; it must be a text");
  CHECK(fault({words("mode", "mad")}) ==
        "toy: parameter mode is \"mad\"; it must be one of calm, wild");
  CHECK(fault({whole("m", 1)}) == "toy has no parameter \"m\"; it has n, share, loud, step, mode");
  CHECK(fault({whole("n", 1), whole("n", 2)}) == "toy: parameter n is given twice");
}
