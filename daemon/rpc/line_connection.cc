#include "daemon/rpc/line_connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "base/limits.h"
#include "base/text.h"
#include "daemon/rpc/json_rpc.h"
#include "daemon/rpc/message_connection.h"

namespace thinkd::daemon {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class LineConnection final : public MessageConnection {
 public:
  LineConnection(ServerCore& core, asio::local::stream_protocol::socket socket)
      : MessageConnection(core), socket_(std::move(socket)) {}

  void start() {
    if (open()) {
      read();
    }
  }

 private:
  std::shared_ptr<LineConnection> self() {
    return std::static_pointer_cast<LineConnection>(shared_from_this());
  }

  void read() {
    asio::async_read_until(
        socket_, asio::dynamic_buffer(input_, limits::kHttpBodyBytes + 1), '\n',
        [self = self()](error_code error, size_t bytes) { self->on_read(error, bytes); });
  }

  void on_read(error_code error, size_t bytes) {
    if (closed()) {
      return;
    }
    if (error == asio::error::not_found) {
      send(rpc_refusal(
          {RpcCode::invalid_request,
           "the line is longer than " + std::to_string(limits::kHttpBodyBytes) + " bytes", "",
           std::to_string(limits::kHttpBodyBytes), ""}));
      return finish();
    }
    if (error) {
      return close();
    }
    std::string line = input_.substr(0, bytes - 1);
    input_.erase(0, bytes);
    if (!trim(line).empty()) {
      received(std::move(line));
    }
    if (!closed()) {
      read();
    }
  }

  void write(const std::string& text) override {
    const std::array<asio::const_buffer, 2> parts{asio::buffer(text), asio::buffer("\n", 1)};
    asio::async_write(socket_, parts, [self = self()](error_code error, size_t) {
      error ? self->close() : self->written();
    });
  }

  void shut() override {
    error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_both, ignored);
    socket_.close(ignored);
  }

  asio::local::stream_protocol::socket socket_;
  std::string input_;
};

}  // namespace

void serve_lines(ServerCore& core, int descriptor) {
  error_code error;
  asio::local::stream_protocol::socket socket(core.io);
  socket.assign(asio::local::stream_protocol(), descriptor, error);
  if (!error) {
    std::make_shared<LineConnection>(core, std::move(socket))->start();
  }
}

}  // namespace thinkd::daemon
