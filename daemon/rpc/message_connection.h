#pragma once
// A connection that carries whole texts both ways (WebSocket, lines on a Unix socket): calls in,
// answers and progress out, in the order in which they came to be. A peer that reads progress
// slower than it arises is cut: more than the backlog waits and the write at hand stands longer
// than the stall time, or far more than the backlog waits. I/O thread only.

#include <chrono>
#include <deque>
#include <memory>
#include <string>

#include "daemon/rpc/core.h"

namespace thinkd::daemon {

class MessageConnection : public Connection,
                          public std::enable_shared_from_this<MessageConnection> {
 public:
  explicit MessageConnection(ServerCore& core) : core_(core) {}
  ~MessageConnection() override;

  void finish() final;
  void close() final;

 protected:
  bool open();                      // counts it; false where it may not live
  void received(std::string text);  // one call came in
  void written();                   // the text given to write() is out
  bool closed() const { return closed_; }
  void send(std::string text);

  virtual void write(const std::string& text) = 0;  // begins; `text` lives until written()
  virtual void shut() = 0;                          // ends the transport, once

  ServerCore& core_;

 private:
  void begin_write();

  std::shared_ptr<Peer> peer_;
  std::deque<std::string> queue_;  // the first is being written
  uint64_t queued_bytes_ = 0;
  std::chrono::steady_clock::time_point write_began_;
  uint32_t in_flight_ = 0;
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace thinkd::daemon
