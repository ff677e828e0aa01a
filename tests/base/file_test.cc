#include "base/file.h"

#include <sys/stat.h>

#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd {

TEST_CASE("a written file reads back, replaced as a whole") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("f");
  REQUIRE(write_file(path, "first, and longer").ok());
  REQUIRE(write_file(path, "second").ok());
  const Result<std::string> text = read_file(path, 100);
  REQUIRE(text.ok());
  CHECK(*text == "second");
  const auto entries = std::filesystem::directory_iterator(scratch.path());
  CHECK(std::distance(begin(entries), end(entries)) == 1);
}

TEST_CASE("the read limit holds and is named") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("f");
  REQUIRE(write_file(path, std::string(70'000, 'x')).ok());
  CHECK(read_file(path, 70'000).ok());
  const Status status = read_file(path, 69'999).status();
  CHECK(status.code() == Code::limit);
  CHECK_THAT(status.message(), Contains("70000") && Contains("69999"));
  const Status endless = read_file("/dev/zero", 1000).status();
  CHECK(endless.code() == Code::limit);
}

TEST_CASE("a missing file and a folder are errors that name the path") {
  const ScratchFolder scratch;
  const Status missing = read_file(scratch.path("none"), 10).status();
  CHECK(missing.code() == Code::not_found);
  CHECK_THAT(missing.message(), Contains(scratch.path("none")));
  CHECK_FALSE(read_file(scratch.path(), 10).ok());
  CHECK(MappedFile::open(scratch.path()).status().code() == Code::invalid);
  CHECK_FALSE(write_file(scratch.path("none/f"), "x").ok());
}

TEST_CASE("a mapping shows the bytes and moves") {
  const ScratchFolder scratch;
  REQUIRE(write_file(scratch.path("f"), "abc").ok());
  REQUIRE(write_file(scratch.path("empty"), "").ok());
  Result<MappedFile> file = MappedFile::open(scratch.path("f"));
  Result<MappedFile> empty = MappedFile::open(scratch.path("empty"));
  REQUIRE(file.ok());
  REQUIRE(empty.ok());
  CHECK(empty->bytes().empty());
  MappedFile moved = *std::move(file);
  *empty = std::move(moved);
  REQUIRE(empty->bytes().size() == 3);
  CHECK(empty->bytes()[2] == 'c');
}

TEST_CASE("a pipe is no file to map, and asking does not wait for a writer") {
  const ScratchFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const auto mapped = MappedFile::open(path);
  REQUIRE_FALSE(mapped.ok());
  CHECK(mapped.status().message() == "'" + path + "' is not a regular file");
}

TEST_CASE("folders are made all the way, and a file in the way is an error") {
  const ScratchFolder scratch;
  CHECK(make_directories(scratch.path("a/b/c"), 0700).ok());
  CHECK(make_directories(scratch.path("a/b/c"), 0700).ok());
  const auto mode = std::filesystem::status(scratch.path("a/b/c")).permissions();
  CHECK(mode == std::filesystem::perms::owner_all);
  REQUIRE(write_file(scratch.path("f"), "").ok());
  CHECK_FALSE(make_directories(scratch.path("f/g")).ok());
}

TEST_CASE("appends add up, over reopening too") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("log");
  {
    Result<AppendFile> log = AppendFile::open(path);
    REQUIRE(log.ok());
    CHECK(log->append("one\n").ok());
    CHECK(log->sync().ok());
  }
  Result<AppendFile> log = AppendFile::open(path);
  REQUIRE(log.ok());
  CHECK(log->append("two\n").ok());
  const Result<std::string> text = read_file(path, 100);
  REQUIRE(text.ok());
  CHECK(*text == "one\ntwo\n");
}

}  // namespace thinkd
