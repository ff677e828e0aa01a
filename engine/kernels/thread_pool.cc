#include "engine/kernels/thread_pool.h"

#include <algorithm>

#include "base/limits.h"

namespace thinkd::engine {
namespace {

constexpr uint64_t kClosed = 0xffffffff;
constexpr int kSpins = 4000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

uint32_t region_of(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }
uint32_t chunk_of(uint64_t ticket) { return static_cast<uint32_t>(ticket); }

}  // namespace

ThreadPool::ThreadPool(uint32_t threads) : ticket_(kClosed) {
  if (threads == 0) {
    threads = std::max(1u, std::thread::hardware_concurrency());
  }
  threads = std::min(threads, limits::kKernelThreads);
  for (uint32_t worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  regions_.fetch_add(1);
  regions_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::run(uint32_t chunks, Call call, void* context) {
  if (workers_.empty() || chunks <= 1) {
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
      call(context, chunk, 0);
    }
    return;
  }
  const uint64_t region = uint64_t{region_of(ticket_.load(std::memory_order_relaxed)) + 1} << 32;
  ticket_.store(region | kClosed);
  chunks_.store(chunks);
  call_.store(call);
  context_.store(context);
  done_.store(0);
  ticket_.store(region);
  regions_.fetch_add(1);
  regions_.notify_all();
  take_chunks(0);
  for (int spin = 0; spin < kSpins && done_.load() != chunks; ++spin) {
    pause();
  }
  for (uint32_t done = done_.load(); done != chunks; done = done_.load()) {
    done_.wait(done);
  }
}

void ThreadPool::take_chunks(uint32_t worker) {
  uint64_t ticket = ticket_.load();
  while (chunk_of(ticket) != kClosed) {
    const uint32_t chunks = chunks_.load();
    const Call call = call_.load();
    void* const context = context_.load();
    if (chunk_of(ticket) >= chunks) {
      return;
    }
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1)) {
      continue;
    }
    call(context, chunk_of(ticket), worker);
    if (done_.fetch_add(1) + 1 == chunks) {
      done_.notify_all();
    }
    ticket = ticket_.load();
  }
}

void ThreadPool::work(uint32_t worker) {
  uint32_t seen = 0;
  while (true) {
    for (int spin = 0; spin < kSpins && regions_.load() == seen; ++spin) {
      pause();
    }
    regions_.wait(seen);
    seen = regions_.load();
    if (stop_.load()) {
      return;
    }
    take_chunks(worker);
  }
}

}  // namespace thinkd::engine
