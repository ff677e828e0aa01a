#include "daemon/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "daemon/exit_code.h"

namespace thinkd::daemon {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

SignalWatch::SignalWatch() {
  signal(SIGPIPE, SIG_IGN);
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  ending_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { run(); });
}

SignalWatch::~SignalWatch() {
  const uint64_t one = 1;
  while (write(ending_, &one, sizeof(one)) < 0) {
  }
  thread_.join();
  close(ending_);
  close(signals_);
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void SignalWatch::run() {
  while (true) {
    pollfd waiting[] = {{signals_, POLLIN, 0}, {ending_, POLLIN, 0}};
    if (poll(waiting, 2, -1) < 0) {
      continue;
    }
    if (waiting[1].revents != 0) {
      return;
    }
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) {
      continue;
    }
    const std::lock_guard guard(lock_);
    if (!handler_ || fired_) {
      _exit(kExitInterrupted);
    }
    fired_ = true;
    handler_();
  }
}

void SignalWatch::set_handler(std::function<void()> handler) {
  const std::lock_guard guard(lock_);
  handler_ = std::move(handler);
}

std::future<void> SignalWatch::first() {
  const auto came = std::make_shared<std::promise<void>>();
  set_handler([came] { came->set_value(); });
  return came->get_future();
}

}  // namespace thinkd::daemon
