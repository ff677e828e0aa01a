#include "daemon/rpc/http_connection.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/version.h"
#include "daemon/rpc/http_rules.h"
#include "daemon/rpc/websocket_connection.h"

namespace thinkd::daemon {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

std::vector<std::string_view> values_of(const Request& request, http::field name) {
  std::vector<std::string_view> values;
  const auto range = request.equal_range(name);
  for (auto field = range.first; field != range.second; ++field) {
    values.push_back(view(field->value()));
  }
  return values;
}

// What Beast's WebSocket stream takes at most before its answer.
constexpr size_t kWebSocketHeadBytes = 1536;

// The upgrade's own header fields, and what was read behind the request.
std::string websocket_head(const Request& request, std::string_view early) {
  std::string head = "GET " + std::string(request.target()) + " HTTP/1.1\r\n";
  for (const http::field name :
       {http::field::host, http::field::upgrade, http::field::connection,
        http::field::sec_websocket_key, http::field::sec_websocket_version}) {
    if (const auto field = request.find(name); field != request.end()) {
      head += std::string(field->name_string()) + ": " + std::string(field->value()) + "\r\n";
    }
  }
  return head.append("\r\n").append(early);
}

RequestHead head_of(const Request& request) {
  return {view(request.method_string()),
          view(request.target()),
          view(request[http::field::content_type]),
          values_of(request, http::field::host),
          values_of(request, http::field::origin),
          websocket::is_upgrade(request)};
}

class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(ServerCore& core, tcp::socket socket)
      : core_(core), socket_(std::move(socket)), deadline_(core.io) {}
  ~HttpConnection() override { core_.remove(this); }

  void start() {
    if (!core_.add(shared_from_this())) {
      return;
    }
    peer_ = Peer::create(core_, nullptr);
    arm(core_.options.header_seconds);
    read_header();
  }

  void finish() override {
    finishing_ = true;
    if (!busy_) {
      close();
    }
  }

  void close() override {
    if (closed_) {
      return;
    }
    closed_ = true;
    peer_->leave();
    core_.remove(this);
    deadline_.cancel();
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

 private:
  // Whatever is at hand must be done by then.
  void arm(double seconds) {
    const uint64_t turn = ++turn_;
    deadline_.expires_after(as_duration(seconds));
    deadline_.async_wait([self = shared_from_this(), turn](error_code) {
      if (turn == self->turn_) {
        self->too_late();
      }
    });
  }
  void disarm() {
    ++turn_;
    deadline_.cancel();
  }

  void too_late() {
    if (closed_ || !reading_ || buffer_.size() == 0) {
      return close();
    }
    error_code ignored;
    socket_.cancel(ignored);
    reading_ = false;
    refuse({408, "the request did not arrive in time"});
  }

  void next_request() {
    if (finishing_) {
      return close();
    }
    if (buffer_.size() > 0) {
      arm(core_.options.header_seconds);
      return read_header();
    }
    arm(core_.options.idle_seconds);
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
      if (error || self->closed_) {
        return self->close();
      }
      self->arm(self->core_.options.header_seconds);
      self->read_header();
    });
  }

  void read_header() {
    parser_.emplace();
    parser_->header_limit(limits::kHttpHeaderBytes);
    parser_->body_limit(limits::kHttpBodyBytes);
    reading_ = true;
    http::async_read_header(
        socket_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, size_t) { self->on_header(error); });
  }

  void on_header(error_code error) {
    if (closed_ || !reading_) {
      return;
    }
    busy_ = true;
    if (error) {
      return refuse_broken(error);
    }
    const Request& request = parser_->get();
    if (auto refusal = check_request(head_of(request), core_.port)) {
      return refuse(*std::move(refusal));
    }
    if (view(request.target()) == kWebSocketPath) {
      return upgrade();
    }
    arm(core_.options.body_seconds);
    if (beast::iequals(request[http::field::expect], "100-continue")) {
      static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
      return asio::async_write(socket_, asio::buffer(kGoOn.data(), kGoOn.size()),
                               [self = shared_from_this()](error_code failed, size_t) {
                                 failed ? self->close() : self->read_body();
                               });
    }
    read_body();
  }

  void read_body() {
    if (closed_ || !reading_) {
      return;
    }
    http::async_read(
        socket_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, size_t) { self->on_body(error); });
  }

  void on_body(error_code error) {
    if (closed_ || !reading_) {
      return;
    }
    if (error) {
      return refuse_broken(error);
    }
    reading_ = false;
    disarm();  // a search takes as long as it takes
    keep_alive_ = parser_->keep_alive();
    version_ = parser_->get().version();
    peer_->receive(std::move(parser_->get().body()), [weak = weak_from_this()](std::string reply) {
      if (const auto self = weak.lock()) {
        self->on_reply(std::move(reply));
      }
    });
    parser_.reset();
    watch();
  }

  // While the call is at work, the only news from the client is that it has gone, or its next
  // request.
  void watch() {
    const uint64_t call = call_;
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this(), call](error_code error) {
      if (error || self->closed_ || call != self->call_) {
        return;
      }
      char byte = 0;
      if (recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) {
        self->close();
      }
    });
  }

  void on_reply(std::string reply) {
    if (closed_) {
      return;
    }
    ++call_;
    error_code ignored;
    socket_.cancel(ignored);
    Response response(reply.empty() ? http::status::no_content : http::status::ok, version_);
    if (!reply.empty()) {
      response.set(http::field::content_type, "application/json");
      response.body() = std::move(reply);
    }
    send(std::move(response), keep_alive_ && !finishing_);
  }

  void refuse_broken(error_code error) {
    if (error == http::error::header_limit) {
      return refuse({431, "the header is larger than " + std::to_string(limits::kHttpHeaderBytes) +
                              " bytes"});
    }
    if (error == http::error::body_limit) {
      return refuse(
          {413, "the body is larger than " + std::to_string(limits::kHttpBodyBytes) + " bytes"});
    }
    if (error.category() == http::make_error_code(http::error::bad_value).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return refuse({400, "not an HTTP/1.1 request"});
    }
    close();
  }

  void refuse(Refusal refusal) {
    reading_ = false;
    Response response(static_cast<http::status>(refusal.status), 11);
    response.set(http::field::content_type, "text/plain; charset=utf-8");
    if (response.result() == http::status::method_not_allowed) {
      response.set(http::field::allow, "POST");
    }
    response.body() = std::move(refusal.text) + "\n";
    send(std::move(response), false);
  }

  void send(Response response, bool keep_alive) {
    busy_ = true;
    response.set(http::field::server, "thinkd/" + std::string(version()));
    response.set(http::field::cache_control, "no-store");
    response.keep_alive(keep_alive);
    if (response.result() != http::status::no_content) {
      response.prepare_payload();
    }
    response_ = std::move(response);
    arm(core_.options.body_seconds);
    http::async_write(socket_, response_,
                      [self = shared_from_this(), keep_alive](error_code error, size_t) {
                        if (error || self->closed_) {
                          return self->close();
                        }
                        self->busy_ = false;
                        keep_alive ? self->next_request() : self->linger();
                      });
  }

  // Closing at once while the client still sends would reset the connection and lose the reply.
  void linger() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    arm(1.0);
    drain(0);
  }

  void drain(uint64_t drained) {
    socket_.async_read_some(asio::buffer(scratch_),
                            [self = shared_from_this(), drained](error_code error, size_t bytes) {
                              if (error || self->closed_ || drained > limits::kHttpBodyBytes) {
                                return self->close();
                              }
                              self->drain(drained + bytes);
                            });
  }

  // What comes with the request to upgrade is the client's first frames (which should have waited
  // for the answer, but is not lost); of the header, only what the upgrade itself needs goes on.
  void upgrade() {
    const std::string head =
        websocket_head(parser_->get(), beast::buffers_to_string(buffer_.data()));
    if (head.size() > kWebSocketHeadBytes) {
      return refuse({400, "the upgrade and what came with it are " + std::to_string(head.size()) +
                              " bytes; at most " + std::to_string(kWebSocketHeadBytes)});
    }
    disarm();
    closed_ = true;  // its socket goes on elsewhere
    core_.remove(this);
    peer_->leave();
    error_code error;
    const bool v6 = socket_.local_endpoint(error).address().is_v6();
    const int descriptor = socket_.release(error);
    if (!error) {
      serve_websocket(core_, descriptor, v6, head);
    }
  }

  ServerCore& core_;
  tcp::socket socket_;
  asio::steady_timer deadline_;
  std::shared_ptr<Peer> peer_;
  beast::flat_buffer buffer_{limits::kHttpHeaderBytes + 65'536};
  std::optional<http::request_parser<http::string_body>> parser_;
  Response response_;
  std::array<char, 4096> scratch_{};
  uint64_t turn_ = 0;  // of the deadline
  uint64_t call_ = 0;  // answered calls
  unsigned version_ = 11;
  bool reading_ = false;  // a request
  bool busy_ = false;     // with a request or its reply
  bool keep_alive_ = false;
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace

void serve_http(ServerCore& core, int descriptor, bool v6) {
  error_code error;
  tcp::socket socket(core.io);
  socket.assign(v6 ? tcp::v6() : tcp::v4(), descriptor, error);
  if (error) {
    return;
  }
  socket.set_option(tcp::no_delay(true), error);
  std::make_shared<HttpConnection>(core, std::move(socket))->start();
}

}  // namespace thinkd::daemon
