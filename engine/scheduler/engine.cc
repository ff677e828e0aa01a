#include "engine/scheduler/engine.h"

#include <unistd.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/version.h"
#include "engine/scheduler/query_state.h"
#include "engine/scheduler/step_loop.h"

namespace thinkd::engine {

namespace {

constexpr uint64_t kLargestDefaultPool = uint64_t{4} << 30;
constexpr uint64_t kMostPages =
    1 << 20;  // 33 million tokens: what the pool keeps a page's state for

uint64_t machine_bytes() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGE_SIZE)));
  return pages * page;
}

BlockHash root_hash(const LanguageModel& model, const std::string& tenant) {
  Sha256 sha;
  sha.add_text(model.info.sha256);
  sha.add_u32(kBlockTokens);
  sha.add_text(model.runner->fingerprint());
  sha.add_text(build_id());
  sha.add_text(tenant);
  const Sha256Digest digest = sha.digest();
  BlockHash root;
  std::copy_n(digest.begin(), root.size(), root.begin());
  return root;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::create(std::unique_ptr<LanguageModel> model,
                                               const EngineOptions& options) {
  const ModelShape& shape = model->runner->shape();
  const uint64_t machine = machine_bytes();
  const uint64_t bytes =
      options.kv_pool_bytes ? options.kv_pool_bytes : std::min(kLargestDefaultPool, machine / 4);
  if (bytes > machine) {
    return over_limit("a KV pool of " + std::to_string(bytes) + " bytes: the machine has " +
                      std::to_string(machine));
  }
  const uint64_t pages = std::min(bytes / shape.page_bytes, kMostPages);
  if (pages == 0) {
    return over_limit("a KV pool of " + std::to_string(bytes) +
                      " bytes holds not one block: " + std::to_string(kBlockTokens) +
                      " tokens of this model take " + std::to_string(shape.page_bytes));
  }
  if (options.context > shape.context) {
    return over_limit("a context of " + std::to_string(options.context) +
                      " tokens: the model was made for " + std::to_string(shape.context));
  }
  if (options.step_rows == 0) {
    return invalid("a step of 0 rows");
  }
  const uint32_t context = options.context ? options.context : shape.context;
  const BlockHash root = root_hash(*model, options.tenant);
  return std::make_unique<Engine>(
      std::make_unique<StepLoop>(std::move(model), options, context, pages, root));
}

Engine::Engine(std::unique_ptr<StepLoop> loop) : loop_(std::move(loop)) {}
Engine::~Engine() = default;

const LanguageModel& Engine::model() const { return loop_->model(); }
uint32_t Engine::context() const { return loop_->context(); }
uint32_t Engine::pages_total() const { return static_cast<uint32_t>(loop_->pool().pages()); }

Branch Engine::new_branch() { return Branch(&loop_->pool()); }

std::unique_ptr<Query> Engine::new_query(const QueryOptions& options) {
  QueryOptions bounded = options;
  bounded.page_quota =
      options.page_quota == 0 ? pages_total() : std::min(options.page_quota, pages_total());
  auto state = std::make_shared<QueryState>(bounded);
  state->shown_allowance = bounded.token_allowance;
  loop_->add(state);
  return std::make_unique<Query>(*this, std::move(state));
}

EngineStatus Engine::status() const { return loop_->status(); }

uint64_t Engine::row_flops(uint32_t context) const { return loop_->row_flops(context); }

}  // namespace thinkd::engine
