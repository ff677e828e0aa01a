// The store's folder: whose it is, who may look into it, and the file that says who holds it.

#include "memory/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "memory/paths.h"
#include "memory/store.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd::memory {

namespace {

mode_t mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

void make(const std::string& path, mode_t mode) {
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  REQUIRE(::chmod(path.c_str(), mode) == 0);  // whatever the umask is
}

}  // namespace

TEST_CASE("a store's folder is private, also where it was there before") {
  const ScratchFolder scratch;
  for (const mode_t mode : {0700, 0755, 0775, 0777}) {
    const std::string dir = scratch.path("s" + std::to_string(mode));
    make(dir, mode);
    make(models_dir(dir), 0755);
    make(database_dir(dir), mode);
    const auto store = Store::open(dir);
    INFO(store.status().message());
    REQUIRE(store.ok());
    CHECK(mode_of(dir) == 0700);
    CHECK(mode_of(database_dir(dir)) == 0700);
    CHECK(mode_of(owner_path(dir)) == 0600);
  }
}

TEST_CASE("a folder with other things in it keeps its mode; one that others write to is refused") {
  const ScratchFolder scratch;
  const std::string shared = scratch.path("shared");
  make(shared, 0755);
  REQUIRE(write_file(shared + "/letter", "dear").ok());
  CHECK(Store::open(shared).ok());
  CHECK(mode_of(shared) == 0755);
  CHECK(mode_of(database_dir(shared)) == 0700);
  for (const mode_t mode : {0775, 0757, 01777}) {
    REQUIRE(::chmod(shared.c_str(), mode) == 0);
    const Status refused = Store::open(shared).status();
    CHECK(refused.code() == Code::invalid);
    CHECK_THAT(refused.message(), Contains(shared) && Contains("others may write"));
    CHECK(mode_of(shared) == mode);
  }
}

TEST_CASE("owner.pid is a file, not a way to one") {
  const ScratchFolder scratch;
  const std::string letter = scratch.path("letter");
  REQUIRE(write_file(letter, "dear").ok());
  const std::string dir = scratch.path("store");
  make(dir, 0700);
  std::filesystem::create_symlink(letter, owner_path(dir));
  const Status linked = Store::open(dir).status();
  CHECK(linked.code() == Code::invalid);
  CHECK_THAT(linked.message(), Contains(owner_path(dir)) && Contains("symbolic link"));
  CHECK(*read_file(letter, 100) == "dear");
  REQUIRE(::unlink(owner_path(dir).c_str()) == 0);
  REQUIRE(::mkfifo(owner_path(dir).c_str(), 0600) == 0);
  CHECK_THAT(Store::open(dir).status().message(), Contains("not a regular file"));
  REQUIRE(::unlink(owner_path(dir).c_str()) == 0);
  const auto store = Store::open(dir);
  REQUIRE(store.ok());
  CHECK_THAT(Store::open(dir).status().message(),
             Contains("is held by process " + std::to_string(::getpid())));
}

}  // namespace thinkd::memory
