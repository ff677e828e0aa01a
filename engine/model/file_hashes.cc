#include "engine/model/file_hashes.h"

#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"

namespace thinkd::engine {
namespace {

constexpr uint64_t kMemoryBytes = 4 << 20;
constexpr size_t kMemoryEntries = 1'000;
constexpr int64_t kNanoseconds = 1'000'000'000;
constexpr int64_t kSettledSeconds = 2;

struct Stamp {
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
};

Result<Stamp> stamp_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    const int error = errno;
    const std::string text =
        "cannot stat '" + path + "': " + std::generic_category().message(error);
    return error == ENOENT ? not_found(text) : io_error(text);
  }
  return Stamp{static_cast<uint64_t>(info.st_size),
               int64_t{info.st_mtim.tv_sec} * kNanoseconds + info.st_mtim.tv_nsec};
}

bool settled(const Stamp& stamp) {
  struct timespec now{};
  return ::clock_gettime(CLOCK_REALTIME, &now) == 0 &&
         now.tv_sec - stamp.mtime_ns / kNanoseconds > kSettledSeconds;
}

Json read_memory(const std::string& path) {
  const Result<std::string> text = read_file(path, kMemoryBytes);
  if (text.ok()) {
    Result<Json> memory = parse_json(*text);
    if (memory.ok() && memory->is_object()) {
      return *std::move(memory);
    }
  }
  return Json::object();
}

std::string remembered(const Json& memory, const std::string& path, const Stamp& stamp) {
  const auto entry = memory.find(path);
  if (entry == memory.end() || !entry->is_object()) {
    return "";
  }
  const auto bytes = entry->find("bytes");
  const auto mtime = entry->find("mtime_ns");
  const auto hash = entry->find("sha256");
  if (bytes == entry->end() || mtime == entry->end() || hash == entry->end() ||
      *bytes != stamp.bytes || *mtime != stamp.mtime_ns || !hash->is_string()) {
    return "";
  }
  const auto text = hash->get<std::string>();
  const bool is_hash =
      text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? text : std::string();
}

void remember(const std::string& memory_path, Json memory, const std::string& path,
              const Stamp& stamp, const std::string& hash) {
  if (memory.size() >= kMemoryEntries) {
    memory = Json::object();
  }
  memory[path] = {{"bytes", stamp.bytes}, {"mtime_ns", stamp.mtime_ns}, {"sha256", hash}};
  const std::string folder = std::filesystem::path(memory_path).parent_path().string();
  if (folder.empty() || make_directories(folder).ok()) {
    // Best effort: the next start hashes again.
    [[maybe_unused]] const Status written = write_file(memory_path, to_text(memory));
  }
}

}  // namespace

std::string FileHashes::user_memory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') {
    return std::string(cache) + "/thinkd/sha256.json";
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/thinkd/sha256.json" : "";
}

Result<std::string> FileHashes::sha256(const std::string& path) const {
  const Result<Stamp> before = stamp_of(path);
  if (!before.ok()) {
    return before.status();
  }
  std::error_code error;
  const std::string full = std::filesystem::absolute(path, error).lexically_normal().string();
  Json memory = memory_path_.empty() ? Json::object() : read_memory(memory_path_);
  if (std::string known = remembered(memory, full, *before); !known.empty()) {
    return known;
  }
  const Result<Sha256Digest> digest = sha256_file(path);
  if (!digest.ok()) {
    return digest.status();
  }
  const std::string hash = hex(*digest);
  const Result<Stamp> after = stamp_of(path);
  const bool unchanged =
      after.ok() && after->bytes == before->bytes && after->mtime_ns == before->mtime_ns;
  if (!memory_path_.empty() && !error && unchanged && settled(*before)) {
    remember(memory_path_, std::move(memory), full, *before, hash);
  }
  return hash;
}

}  // namespace thinkd::engine
