#include "daemon/rpc/message_connection.h"

#include <utility>

#include "base/limits.h"
#include "base/log.h"

namespace thinkd::daemon {

MessageConnection::~MessageConnection() { core_.remove(this); }

bool MessageConnection::open() {
  if (!core_.add(shared_from_this())) {
    closed_ = true;
    return false;
  }
  peer_ = Peer::create(core_, [weak = weak_from_this()](std::string text) {
    if (const auto self = weak.lock()) {
      self->send(std::move(text));
    }
  });
  return true;
}

void MessageConnection::received(std::string text) {
  if (++in_flight_ > limits::kRpcInFlight) {
    log_warning("a connection was closed: more than " + std::to_string(limits::kRpcInFlight) +
                " calls at once");
    return close();
  }
  peer_->receive(std::move(text), [weak = weak_from_this()](std::string reply) {
    const auto self = weak.lock();
    if (!self || self->closed_) {
      return;
    }
    --self->in_flight_;
    if (!reply.empty()) {
      self->send(std::move(reply));
    } else if (self->finishing_) {
      self->finish();
    }
  });
}

void MessageConnection::send(std::string text) {
  if (closed_) {
    return;
  }
  queued_bytes_ += text.size();
  queue_.push_back(std::move(text));
  if (queue_.size() == 1) {
    return begin_write();
  }
  const std::chrono::duration<double> standing = std::chrono::steady_clock::now() - write_began_;
  // A run that is joined late tells its whole past at once: a burst is no sign of a slow reader.
  const uint64_t most = standing.count() > core_.options.stall_seconds ? core_.options.backlog_bytes
                                                                       : core_.options.burst_bytes;
  if (queued_bytes_ > most) {
    log_warning("a connection was closed: " + std::to_string(queued_bytes_) +
                " bytes of progress wait for it; at most " + std::to_string(most));
    close();
  }
}

void MessageConnection::begin_write() {
  write_began_ = std::chrono::steady_clock::now();
  write(queue_.front());
}

void MessageConnection::written() {
  if (closed_) {
    return;
  }
  queued_bytes_ -= queue_.front().size();
  queue_.pop_front();
  if (!queue_.empty()) {
    begin_write();
  } else if (finishing_) {
    finish();
  }
}

void MessageConnection::finish() {
  finishing_ = true;
  if (in_flight_ == 0 && queue_.empty()) {
    close();
  }
}

void MessageConnection::close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  if (peer_) {
    peer_->leave();
  }
  core_.remove(this);
  shut();
}

}  // namespace thinkd::daemon
