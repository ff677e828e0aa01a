#pragma once
// SIGINT and SIGTERM as values. A SignalWatch is made before any other thread, so that every thread
// has these signals blocked and only the watch takes them. The first signal calls what set_handler
// was given, or ends the process where nothing was; the second ends the process at once. SIGPIPE is
// ignored for good.
//
// Owner: a command; one at a time. The handler runs on the watch's own thread, must be quick and
// sets no handler itself.

#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace thinkd::daemon {

class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();  // the signals are as before
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // A call of the former handler that is under way is over when this returns.
  void set_handler(std::function<void()> handler);
  bool fired() const { return fired_; }  // a signal came while there was a handler
  std::future<void> first();             // ready when a signal came; takes the handler's place

 private:
  void run();

  int signals_ = -1;               // signalfd
  int ending_ = -1;                // eventfd
  std::mutex lock_;                // held while the handler is called
  std::function<void()> handler_;  // lock_
  std::atomic<bool> fired_{false};
  std::thread thread_;
};

}  // namespace thinkd::daemon
