#include "daemon/rpc/core.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>
#include <vector>

#include "daemon/rpc/json_rpc.h"

namespace thinkd::daemon {

namespace asio = boost::asio;

void Poster::post(std::function<void()> work) {
  const std::lock_guard guard(lock_);
  if (io_ != nullptr) {
    asio::post(*io_, std::move(work));
  }
}

void Poster::close() {
  const std::lock_guard guard(lock_);
  io_ = nullptr;
}

ServerCore::ServerCore(const ServerOptions& server_options, const Services& all_services,
                       asio::io_context& io_context, asio::thread_pool& thread_pool)
    : options(server_options),
      services(all_services),
      io(io_context),
      workers(thread_pool),
      callers(std::make_shared<Callers>()),
      poster(std::make_shared<Poster>(io_context)) {}

bool ServerCore::add(const std::shared_ptr<Connection>& connection) {
  if (finishing || open_.size() >= options.connections) {
    return false;
  }
  open_[connection.get()] = connection;
  connections = static_cast<uint32_t>(open_.size());
  return true;
}

void ServerCore::remove(const Connection* connection) {
  open_.erase(connection);
  connections = static_cast<uint32_t>(open_.size());
}

void ServerCore::for_each(const std::function<void(Connection&)>& visit) {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [key, weak] : open_) {
    if (auto connection = weak.lock()) {
      all.push_back(std::move(connection));
    }
  }
  for (const auto& connection : all) {
    visit(*connection);
  }
}

class Peer::Impl {
 public:
  Impl(ServerCore& core, Methods::Notify notify)
      : poster(core.poster),
        methods(core.services, core.callers, std::move(notify)),
        channel(methods),
        strand(asio::make_strand(core.workers.get_executor())) {}

  const std::shared_ptr<Poster> poster;
  Methods methods;
  RpcChannel channel;
  asio::strand<asio::thread_pool::executor_type> strand;
};

Peer::Peer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Peer::~Peer() = default;

std::shared_ptr<Peer> Peer::create(ServerCore& core, Deliver progress) {
  Methods::Notify notify;
  if (progress) {
    notify = [poster = core.poster, progress = std::move(progress)](std::string text) {
      poster->post([progress, text = std::move(text)] { progress(text); });
    };
  }
  return std::make_shared<Peer>(std::make_unique<Impl>(core, std::move(notify)));
}

void Peer::receive(std::string text, Deliver reply) {
  asio::post(
      impl_->strand, [self = shared_from_this(), text = std::move(text), reply = std::move(reply)] {
        self->impl_->channel.receive(text, [poster = self->impl_->poster, reply](std::string out) {
          poster->post([reply, out = std::move(out)] { reply(out); });
        });
      });
}

void Peer::leave() {
  asio::post(impl_->strand, [self = shared_from_this()] { self->impl_->methods.leave(); });
}

}  // namespace thinkd::daemon
