#pragma once
// `thinkd serve` on the tiny model as a process of its own, and calls of it that last.

#include <string>
#include <thread>
#include <utility>

#include "daemon/rpc/client.h"
#include "tests/daemon/cli/program.h"

namespace thinkd::testing {

using Texts = std::vector<std::string>;

// What two runs with one seed share, with members in one order wherever the answer came from.
inline std::string shared_part(const Json& answer) {
  const auto ordered = nlohmann::ordered_json::parse(answer.dump());
  return Json::parse(stable_part(ordered)).dump();
}

inline std::string shared_part(const Ran& ran) {
  return shared_part(Json::parse(ran.json().dump()));
}

class DaemonProcess {
 public:
  // `fault` is the process's THINKD_FAULT; "" for none.
  explicit DaemonProcess(Program& program, const std::string& drain_seconds = "30",
                         const std::string& fault = "")
      : program_(program) {
    REQUIRE(write_file(program.path("thinkd.toml"), "drain_seconds = " + drain_seconds).ok());
    if (!fault.empty()) {
      setenv("THINKD_FAULT", fault.c_str(), 1);
    }
    pid_ = program.start({"serve", "--listen", "127.0.0.1:0", "--json", "--model", "tiny",
                          "--threads", "1", "--config", program.path("thinkd.toml")},
                         "serve");
    unsetenv("THINKD_FAULT");
    bool lives = true;
    (void)until([&] {
      int status = 0;
      lives = waitpid(pid_, &status, WNOHANG) == 0;
      return !lives || read_places();
    });
    if (http_.port == 0) {
      if (lives) {
        kill(pid_, SIGKILL);
        (void)wait();
      }
      FAIL("the daemon does not serve: " << *read_file(program.path("serve.err"), 1 << 16));
    }
  }
  ~DaemonProcess() {
    if (pid_ != 0) {
      kill(pid_, SIGKILL);
      (void)program_.wait(pid_, "serve");
    }
  }
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  void signal(int number) const { REQUIRE(kill(pid_, number) == 0); }
  Ran wait() { return program_.wait(std::exchange(pid_, 0), "serve"); }

  pid_t pid() const { return pid_; }
  const daemon::Endpoint& http() const { return http_; }
  const daemon::Endpoint& socket() const { return socket_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(http_.port); }

  Json ask(const std::string& method, const Json& params = Json::object()) const {
    const Result<Json> result = daemon::call(http_, method, params);
    INFO(method << ": " << result.status().message());
    REQUIRE(result.ok());
    return *result;
  }
  uint64_t steps() const { return ask("server.status")["steps"].get<uint64_t>(); }

 private:
  // From what it prints when it serves.
  bool read_places() {
    const auto out = read_file(program_.path("serve.out"), 1 << 16);
    const Json told = out ? Json::parse(*out, nullptr, false) : Json();
    if (!told.is_object()) {
      return false;
    }
    http_.host = "127.0.0.1";
    http_.port = told["port"].get<uint16_t>();
    socket_.socket_path = told["socket"].get<std::string>();
    return true;
  }

  Program& program_;
  pid_t pid_ = 0;
  daemon::Endpoint http_;
  daemon::Endpoint socket_;
};

// A call that lasts, on a thread of its own.
class Caller {
 public:
  Caller(const daemon::Endpoint& endpoint, const std::string& method, const Json& params)
      : thread_([=, this] { result_ = daemon::call(endpoint, method, params); }) {}
  ~Caller() {
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  const Result<Json>& result() {
    thread_.join();
    return result_;
  }

 private:
  Result<Json> result_ = Status(Code::internal, "no answer");
  std::thread thread_;
};

}  // namespace thinkd::testing
