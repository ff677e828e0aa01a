#pragma once
// One thread that calls what is due. Used for the runs' deadlines. Any thread may add(); what is
// called must be quick. The destructor waits for the thread and forgets what is not due yet.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace thinkd::search {

class Deadlines {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Deadlines() : thread_([this](std::stop_token stop) { loop(stop); }) {}
  ~Deadlines() {
    thread_.request_stop();
    changed_.notify_all();
  }
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  void add(Time when, std::function<void()> call) {
    const std::lock_guard guard(lock_);
    due_.emplace(when, std::move(call));
    changed_.notify_all();
  }

 private:
  void loop(const std::stop_token& stop) {
    std::unique_lock guard(lock_);
    while (!stop.stop_requested()) {
      if (due_.empty()) {
        changed_.wait(guard, stop, [&] { return !due_.empty(); });
        continue;
      }
      const Time first = due_.begin()->first;
      if (std::chrono::steady_clock::now() < first) {
        changed_.wait_until(guard, stop, first, [&] { return due_.begin()->first < first; });
        continue;
      }
      const std::function<void()> call = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      guard.unlock();
      call();
      guard.lock();
    }
  }

  std::mutex lock_;
  std::condition_variable_any changed_;
  std::multimap<Time, std::function<void()>> due_;  // lock
  std::jthread thread_;                             // last: starts when everything stands
};

}  // namespace thinkd::search
