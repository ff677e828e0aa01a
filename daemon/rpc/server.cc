#include "daemon/rpc/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "base/limits.h"
#include "base/log.h"
#include "daemon/rpc/core.h"
#include "daemon/rpc/host_check.h"
#include "daemon/rpc/http_connection.h"
#include "daemon/rpc/line_connection.h"

namespace thinkd::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;
using boost::system::error_code;

constexpr unsigned kWorkers = 4;  // threads that run the methods

Result<tcp::endpoint> loopback_endpoint(const std::string& listen) {
  const Result<HostPort> parsed = parse_host_port(listen, 0);
  if (!parsed || listen.find(':') == std::string::npos) {
    return invalid("listen: '" + listen + "' must be host:port");
  }
  error_code error;
  const auto address =
      asio::ip::make_address(parsed->host == "localhost" ? "127.0.0.1" : parsed->host, error);
  if (error || !address.is_loopback()) {
    return invalid("listen: " + listen +
                   " is not loopback; without keys it must be 127.0.0.1, "
                   "localhost or [::1] with a port");
  }
  return tcp::endpoint(address, parsed->port);
}

Status listen_failure(const std::string& where, const error_code& error) {
  const std::string text = "listen on " + where + ": " + error.message();
  return error == asio::error::address_in_use ? conflict(text) : io_error(text);
}

// A socket file that nobody answers on is what a killed daemon left.
Status clear_stale_socket(const std::string& path, asio::io_context& io) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) {
    return {};
  }
  if (!S_ISSOCK(info.st_mode)) {
    return conflict(path + " is there and is no socket");
  }
  error_code error;
  stream_protocol::socket probe(io);
  probe.connect(stream_protocol::endpoint(path), error);
  if (!error) {
    return conflict(path + " is served by another process");
  }
  if (unlink(path.c_str()) != 0) {
    return io_error(path + ": the stale socket cannot be removed");
  }
  return {};
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, const Services& services)
      : io_(std::make_unique<asio::io_context>(1)),
        workers_(std::make_unique<asio::thread_pool>(kWorkers)),
        core_(options, services, *io_, *workers_),
        work_(asio::make_work_guard(*io_)) {}

  ~Impl() {
    stop_listening();
    if (thread_.joinable()) {
      asio::post(*io_, [this] { finish(); });
      work_.reset();
      thread_.join();
    }
    core_.poster->close();
    workers_->join();
    tcp_.reset();
    local_.reset();
    tcp_retry_.reset();
    local_retry_.reset();
    last_.reset();
    poll_.reset();
    work_.reset();
    io_.reset();  // with the handlers that still hold connections, while the core is there
    workers_.reset();
  }

  Status open() {
    if (!core_.options.listen.empty()) {
      THINKD_CHECK(open_tcp());
    }
    if (!core_.options.socket_path.empty()) {
      THINKD_CHECK(open_socket());
    }
    if (tcp_) {
      accept_tcp();
    }
    if (local_) {
      accept_local();
    }
    thread_ = std::thread([this] { io_->run(); });
    return {};
  }

  void stop_listening() {
    if (!thread_.joinable() || stopped_.exchange(true)) {
      return;
    }
    std::promise<void> closed;
    asio::post(*io_, [&] {
      error_code ignored;
      if (tcp_) {
        tcp_->close(ignored);
      }
      if (local_) {
        local_->close(ignored);
        unlink(core_.options.socket_path.c_str());
      }
      tcp_retry_.reset();
      local_retry_.reset();
      closed.set_value();
    });
    closed.get_future().wait();
  }

  ServerCore& core() { return core_; }

 private:
  Status open_tcp() {
    const Result<tcp::endpoint> endpoint = loopback_endpoint(core_.options.listen);
    if (!endpoint) {
      return endpoint.status();
    }
    error_code error;
    tcp_.emplace(*io_);
    v6_ = endpoint->address().is_v6();
    tcp_->open(endpoint->protocol(), error);
    if (!error) {
      tcp_->set_option(asio::socket_base::reuse_address(true), error);
    }
    if (!error) {
      tcp_->bind(*endpoint, error);
    }
    if (!error) {
      tcp_->listen(asio::socket_base::max_listen_connections, error);
    }
    if (error) {
      return listen_failure(core_.options.listen, error);
    }
    core_.port = tcp_->local_endpoint(error).port();
    return {};
  }

  // Nobody can connect before listen(), so the mode is right for everybody who can.
  Status open_socket() {
    const std::string& path = core_.options.socket_path;
    if (path.size() > limits::kSocketPathBytes) {
      return over_limit("the socket's path has " + std::to_string(path.size()) +
                        " bytes; at most " + std::to_string(limits::kSocketPathBytes) + ": " +
                        path);
    }
    THINKD_CHECK(clear_stale_socket(path, *io_));
    error_code error;
    local_.emplace(*io_);
    local_->open(stream_protocol(), error);
    if (!error) {
      local_->bind(stream_protocol::endpoint(path), error);
    }
    if (!error && chmod(path.c_str(), 0600) != 0) {
      error = error_code(errno, boost::system::system_category());
    }
    if (!error) {
      local_->listen(asio::socket_base::max_listen_connections, error);
    }
    return error ? listen_failure(path, error) : Status();
  }

  void accept_tcp() {
    tcp_->async_accept([this](error_code error, tcp::socket socket) {
      if (!tcp_->is_open()) {
        return;
      }
      if (!error) {
        error_code failed;
        if (const int descriptor = socket.release(failed); !failed) {
          serve_http(core_, descriptor, v6_);
        }
        return accept_tcp();
      }
      accept_later(tcp_retry_, [this] { accept_tcp(); });
    });
  }

  void accept_local() {
    local_->async_accept([this](error_code error, stream_protocol::socket socket) {
      if (!local_->is_open()) {
        return;
      }
      if (!error) {
        error_code failed;
        if (const int descriptor = socket.release(failed); !failed) {
          serve_lines(core_, descriptor);
        }
        return accept_local();
      }
      accept_later(local_retry_, [this] { accept_local(); });
    });
  }

  // Out of descriptors, say: asking again at once would only burn the processor.
  void accept_later(std::optional<asio::steady_timer>& timer, std::function<void()> accept) {
    log_warning("a connection cannot be accepted; trying again");
    timer.emplace(*io_, std::chrono::milliseconds(50));
    timer->async_wait([accept = std::move(accept)](error_code error) {
      if (!error) {
        accept();
      }
    });
  }

  // Ready answers go out; whoever is not done in a second is closed.
  void finish() {
    core_.finishing = true;
    core_.for_each([](Connection& connection) { connection.finish(); });
    last_.emplace(*io_, std::chrono::seconds(1));
    last_->async_wait(
        [this](error_code) { core_.for_each([](Connection& connection) { connection.close(); }); });
    poll_end();
  }

  void poll_end() {
    if (core_.connections == 0) {
      last_->cancel();
      return;
    }
    poll_.emplace(*io_, std::chrono::milliseconds(5));
    poll_->async_wait([this](error_code) { poll_end(); });
  }

  std::unique_ptr<asio::io_context> io_;
  std::unique_ptr<asio::thread_pool> workers_;
  ServerCore core_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::optional<tcp::acceptor> tcp_;
  std::optional<stream_protocol::acceptor> local_;
  std::optional<asio::steady_timer> tcp_retry_;
  std::optional<asio::steady_timer> local_retry_;
  std::optional<asio::steady_timer> last_;
  std::optional<asio::steady_timer> poll_;
  bool v6_ = false;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

Server::Server(Key, std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              const Services& services) {
  auto impl = std::make_unique<Impl>(options, services);
  THINKD_CHECK(impl->open());
  return std::make_unique<Server>(Key{}, std::move(impl));
}

void Server::stop_listening() { impl_->stop_listening(); }
uint16_t Server::port() const { return impl_->core().port; }
uint32_t Server::connections() const { return impl_->core().connections; }

}  // namespace thinkd::daemon
