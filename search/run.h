#pragma once
// One run while this process knows it: its request, its strategy thread's host, what happened so
// far, how it ended. Shared by the run's thread, those who wait for it and those who stop it.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "search/runs.h"
#include "search/verb_host.h"

namespace thinkd::search {

struct Run {
  // Fixed before it is shared.
  Request request;
  std::vector<sdk::Param> params;
  const thinkd_strategy* strategy = nullptr;
  std::vector<Entry> log;  // of the interrupted run that this one goes on with
  int64_t created_us = 0;
  std::chrono::steady_clock::time_point admitted;
  bool stored = false;
  uint32_t pages = 0;  // its quota

  bool settled = false;  // the run's thread: the store tells how it ended
  bool refused = false;  // idem: it failed before anything was done, and the store forgets it

  std::mutex lock;
  std::condition_variable changed;
  RunState state = RunState::queued;  // lock, as all below
  std::vector<Observer> observers;
  std::vector<std::function<void()>> at_end;
  std::vector<Event> events;
  std::shared_ptr<VerbHost> host;  // while its strategy runs
  StopReason early_stop = StopReason::none;
  std::optional<Answer> answer;
  Status error;

  bool over() const { return state != RunState::queued && state != RunState::running; }

  void stop(StopReason reason) {
    const std::lock_guard guard(lock);
    if (host) {
      host->request_stop(reason);
    } else if (early_stop == StopReason::none) {
      early_stop = reason;
    }
  }

  void tell(const Event& event) {
    const std::lock_guard guard(lock);
    events.push_back(event);
    for (const Observer& observer : observers) {
      observer(event);
    }
  }

  // The observer hears what happened already, then what comes.
  void join(Observer observer) {
    if (!observer) {
      return;
    }
    const std::lock_guard guard(lock);
    for (const Event& event : events) {
      observer(event);
    }
    observers.push_back(std::move(observer));
  }

  void finish(RunState end, std::optional<Answer> result, Status why) {
    std::vector<std::function<void()>> callers;
    {
      const std::lock_guard guard(lock);
      state = end;
      answer = std::move(result);
      error = std::move(why);
      host.reset();
      observers.clear();
      callers = std::move(at_end);
      at_end.clear();
      changed.notify_all();
    }
    for (const std::function<void()>& caller : callers) {
      caller();
    }
  }
};

}  // namespace thinkd::search
