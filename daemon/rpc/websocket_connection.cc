#include "daemon/rpc/websocket_connection.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <utility>

#include "base/limits.h"
#include "daemon/rpc/message_connection.h"

namespace thinkd::daemon {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

class WebSocketConnection final : public MessageConnection {
 public:
  WebSocketConnection(ServerCore& core, tcp::socket socket)
      : MessageConnection(core), stream_(std::move(socket)) {}

  void start(std::string head) {
    if (!open()) {
      return;
    }
    head_ = std::move(head);
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = as_duration(core_.options.header_seconds);
    timeout.idle_timeout = as_duration(core_.options.idle_seconds);
    timeout.keep_alive_pings = true;
    stream_.set_option(timeout);
    stream_.read_message_max(limits::kHttpBodyBytes);
    stream_.text(true);
    stream_.async_accept(asio::buffer(head_), [self = self()](error_code error) {
      error ? self->close() : self->read();
    });
  }

 private:
  std::shared_ptr<WebSocketConnection> self() {
    return std::static_pointer_cast<WebSocketConnection>(shared_from_this());
  }

  void read() {
    if (closed()) {
      return;
    }
    stream_.async_read(input_, [self = self()](error_code error, size_t) {
      if (error) {
        return self->close();
      }
      std::string text = beast::buffers_to_string(self->input_.data());
      self->input_.consume(self->input_.size());
      self->received(std::move(text));
      self->read();
    });
  }

  void write(const std::string& text) override {
    stream_.async_write(asio::buffer(text), [self = self()](error_code error, size_t) {
      error ? self->close() : self->written();
    });
  }

  void shut() override {
    error_code ignored;
    stream_.next_layer().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.next_layer().close(ignored);
  }

  websocket::stream<tcp::socket> stream_;
  beast::flat_buffer input_;
  std::string head_;  // while it is accepted
};

}  // namespace

void serve_websocket(ServerCore& core, int descriptor, bool v6, std::string head) {
  error_code error;
  tcp::socket socket(core.io);
  socket.assign(v6 ? tcp::v6() : tcp::v4(), descriptor, error);
  if (!error) {
    std::make_shared<WebSocketConnection>(core, std::move(socket))->start(std::move(head));
  }
}

}  // namespace thinkd::daemon
