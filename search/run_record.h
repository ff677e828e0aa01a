#pragma once
// What the store keeps of a run, as this room reads and writes it.
//   request  { "request": the Request, "model": SHA-256, "build": what computes it,
//              "pages": the run's page quota }
//   result   { "answer": the Answer as the contract shows it, "events": [ ... ] }
// Pure functions.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/scheduler/engine.h"
#include "memory/record.h"
#include "search/answer.h"
#include "search/event.h"
#include "search/journal.h"
#include "search/request.h"
#include "verifiers/registry.h"

namespace thinkd::memory {
class Store;
}

namespace thinkd::search {

struct RunInfo;  // search/runs.h

// What a journal is valid for beside the model: thinkd's build, KV layout, compute mode, ISA,
// journal version, the model's own scorer where it has one.
std::string build_of(const engine::Engine& engine, const verifiers::Verifiers& verifiers);

// `model_sha256` and `build`: of what runs here.
std::string stored_request(const Request& request, uint32_t pages, std::string_view model_sha256,
                           std::string_view build);
std::string stored_result(const Answer& answer, std::span<const Event> events);

struct StoredRun {
  Request request;
  std::string model_sha256;
  std::string build;
  uint32_t pages = 0;
};
Result<StoredRun> read_request(const memory::RunRecord& record);

// conflict: another model or build than these; names both.
Status same_machine(const StoredRun& run, std::string_view model_sha256, std::string_view build);

struct StoredResult {
  Answer answer;
  std::string answer_json;
  std::vector<std::string> events;  // JSON each
};
Result<StoredResult> read_result(const memory::RunRecord& record);

// The newest run without an end that `at_work` does not claim; not_found where there is none.
Result<memory::RunRecord> latest_interrupted(
    const memory::Store& store, const std::function<bool(std::string_view run_id)>& at_work);

// The run as the store tells of it: one that has no end is interrupted. What cannot be read is told
// by `error`.
RunInfo recorded_run(const memory::RunRecord& record);

Result<std::vector<Entry>> read_log(const memory::Store& store, std::string_view run_id);

}  // namespace thinkd::search
