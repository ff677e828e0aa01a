#pragma once
// A small pool of threads for kernels. A step of a small model lasts a few hundred microseconds, so
// the workers spin briefly between regions and park after that.
//
// parallel_for cuts work into chunks that the caller fixed; who computes a chunk is open, so a
// chunk's result must not depend on it. One thread calls parallel_for at a time (the engine
// thread); it works too, as worker 0. A region does not start another. Tasks do not throw.

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace thinkd::engine {

class ThreadPool {
 public:
  // `threads` in all, the caller included; 0: one a core.
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  // Calls task(chunk, worker) once for each chunk below `chunks`; returns when all are done.
  template <class Task>
  void parallel_for(uint32_t chunks, Task&& task) {
    using Plain = std::remove_reference_t<Task>;
    run(
        chunks,
        [](void* context, uint32_t chunk, uint32_t worker) {
          (*static_cast<Plain*>(context))(chunk, worker);
        },
        const_cast<void*>(static_cast<const void*>(&task)));
  }

 private:
  using Call = void (*)(void* context, uint32_t chunk, uint32_t worker);

  void run(uint32_t chunks, Call call, void* context);
  void work(uint32_t worker);
  void take_chunks(uint32_t worker);

  // Region number in the high half, next chunk in the low half. A chunk is claimed by exchanging
  // the whole word, so a late worker of an old region cannot take a chunk of a new one; while the
  // fields below change, the low half is kClosed.
  std::atomic<uint64_t> ticket_;
  std::atomic<uint32_t> chunks_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<uint32_t> done_{0};
  std::atomic<uint32_t> regions_{0};  // parked workers wait for this to change
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace thinkd::engine
