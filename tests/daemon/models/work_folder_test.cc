// The folder of a pull goes with its process.

#include "daemon/models/work_folder.h"

#include <filesystem>

#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd::daemon {
namespace {

TEST_CASE("a pull removes its folder, and those of pulls that died; not those at work") {
  const ScratchFolder scratch;
  const std::string left = scratch.path(".pull-abcdef");
  REQUIRE(make_directories(left + "/wheels").ok());
  REQUIRE(write_file(left + "/wheels/part", "bytes").ok());
  REQUIRE(write_file(scratch.path("keep"), "").ok());
  std::filesystem::create_symlink(scratch.path("keep"), scratch.path(".pull-linked"));
  std::string first;
  {
    const Result<WorkFolder> working = WorkFolder::make(scratch.path("a.gguf"));
    REQUIRE(working.ok());
    CHECK_FALSE(std::filesystem::exists(left));
    first = working->file("x");
    REQUIRE(write_file(first, "12345").ok());
    CHECK(working->bytes() == 5);
    {
      const Result<WorkFolder> second = WorkFolder::make(scratch.path("b.gguf"));
      REQUIRE(second.ok());
      CHECK(std::filesystem::exists(first));
      CHECK(second->file("x") != first);
    }
    CHECK(std::filesystem::exists(first));
  }
  CHECK_FALSE(std::filesystem::exists(std::filesystem::path(first).parent_path()));
  CHECK(std::filesystem::is_symlink(scratch.path(".pull-linked")));
  CHECK(std::filesystem::exists(scratch.path("keep")));
}

}  // namespace
}  // namespace thinkd::daemon
