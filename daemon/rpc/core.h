#pragma once
// What the connections of a server share. Internal to daemon/rpc; the server owns it, and it
// outlives every connection. All but post() and `connections` belongs to the I/O thread.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "daemon/rpc/methods.h"
#include "daemon/rpc/server.h"

namespace boost::asio {
class io_context;
class thread_pool;
}  // namespace boost::asio

namespace thinkd::daemon {

// Hands work to the I/O thread, from any thread, as long as there is one: what comes after close()
// (a run that ends when its server has ended) is dropped.
class Poster {
 public:
  explicit Poster(boost::asio::io_context& io) : io_(&io) {}
  void post(std::function<void()> work);
  void close();

 private:
  std::mutex lock_;
  boost::asio::io_context* io_;  // lock_; null when closed
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void finish() = 0;  // closes as soon as what is asked is answered
  virtual void close() = 0;   // now
};

inline std::chrono::steady_clock::duration as_duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

struct ServerCore {
  ServerCore(const ServerOptions& server_options, const Services& all_services,
             boost::asio::io_context& io_context, boost::asio::thread_pool& thread_pool);

  // Counts a connection while it lives. False where there are too many.
  bool add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);
  void for_each(const std::function<void(Connection&)>& visit);

  const ServerOptions options;
  const Services services;
  boost::asio::io_context& io;
  boost::asio::thread_pool& workers;
  const std::shared_ptr<Callers> callers;
  const std::shared_ptr<Poster> poster;
  uint16_t port = 0;
  bool finishing = false;
  std::atomic<uint32_t> connections{0};

 private:
  std::map<const Connection*, std::weak_ptr<Connection>> open_;
};

// One connection's side of the conversation: calls run on the workers, one after another, answers
// and progress come back on the I/O thread. Used by that thread only.
class Peer : public std::enable_shared_from_this<Peer> {
 public:
  using Deliver = std::function<void(std::string)>;

  // `progress` may be empty.
  static std::shared_ptr<Peer> create(ServerCore& core, Deliver progress);
  ~Peer();

  void receive(std::string text, Deliver reply);  // "" where there is nothing to send
  void leave();                                   // the connection is gone

  class Impl;
  explicit Peer(std::unique_ptr<Impl> impl);  // by create()

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace thinkd::daemon
