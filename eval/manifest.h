#pragma once
// What determines an evaluation's results, all of it: two folders with equal hashes hold equal
// answers. Concurrency, threads and the folder's place are not in it. Plain values.
//
// manifest.json: the members of to_json() in order, then "hash". The hash is SHA-256 of the compact
// text of these members, so a manifest that someone edited does not match its hash.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "search/request.h"

namespace thinkd::eval {

// The model as it runs here: another build, ISA or number format may give other tokens.
struct ModelIdentity {
  std::string name;
  std::string sha256;
  std::string quantization;
  std::string build;        // base/version.h: build_id()
  std::string isa;          // "avx2", "portable"
  std::string compute;      // "auto", "f32"
  std::string kv;           // "f16", "f32"
  std::string scorer;       // SHA-256 of the model's own scorer; empty where it has none
  uint32_t page_quota = 0;  // of a run whose budget names no pages; 0: not known (older folders)
};

struct Manifest {
  std::string data_name;  // file name, for people
  std::string data_sha256;
  uint64_t first_row = 1;  // 1-based, as --range counts
  uint64_t last_row = 0;
  uint64_t problems = 0;
  std::string task;
  uint32_t prompt_version = 0;
  std::vector<std::string> strategies;  // as typed
  uint64_t samples = 1;
  search::Budget budget;
  std::string verifier;
  std::string system;
  search::SamplingOverrides sampling;
  uint64_t seed = 0;
  ModelIdentity model;
};

// Without the hash.
OrderedJson to_json(const Manifest& manifest);
std::string hash_of(const Manifest& manifest);  // hex

// nullopt where the folder has none; corrupt names the member, or says that the hash differs.
Result<std::optional<Manifest>> read_manifest(const std::string& folder);
Status write_manifest(const std::string& folder, const Manifest& manifest);

// conflict: every member that differs, with both values.
Status same_manifest(const Manifest& folder, const Manifest& now);

}  // namespace thinkd::eval
