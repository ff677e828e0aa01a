#include "engine/kernels/thread_pool.h"

#include "tests/support/catch.h"

using namespace thinkd::engine;

TEST_CASE("every chunk of every region runs once, before the region ends") {
  for (const uint32_t threads : {1u, 2u, 5u}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    bool once = true;
    bool known = true;
    for (uint32_t region = 0; region < 2000; ++region) {
      const uint32_t chunks = region % 17;
      std::vector<uint32_t> seen(chunks, 0);  // plain: the pool must order these for us
      std::vector<uint32_t> workers(chunks, 0);
      pool.parallel_for(chunks, [&](uint32_t chunk, uint32_t worker) {
        seen[chunk] += 1;
        workers[chunk] = worker;
      });
      for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        once = once && seen[chunk] == 1;
        known = known && workers[chunk] < threads;
      }
    }
    CHECK(once);
    CHECK(known);
  }
}

TEST_CASE("a pool that never worked ends too") { ThreadPool pool(3); }
