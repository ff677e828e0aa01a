#pragma once
// SIGINT and SIGTERM as values. A SignalWatch is made before any other thread, so that every thread
// has these signals blocked and only the watch takes them. The first signal calls what set_handler
// was given, or ends the process where nothing was; the second ends the process at once. SIGPIPE is
// ignored for good.
//
// Owner: a command; one at a time. The handler runs on the watch's own thread and must be quick.

#include <functional>
#include <mutex>
#include <thread>

namespace thinkd::daemon {

class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();  // the signals are as before
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  void set_handler(std::function<void()> handler);
  bool fired() const;  // a signal came while there was a handler
  void wait();         // until one came

 private:
  void run();

  int signals_ = -1;  // signalfd
  int ending_ = -1;   // eventfd
  mutable std::mutex lock_;
  std::function<void()> handler_;  // lock_
  bool fired_ = false;             // lock_
  std::thread thread_;
};

}  // namespace thinkd::daemon
