// Real shared libraries through the one exported symbol, driven by the fake host.

#include <dlfcn.h>

#include "tests/sdk/fake_host.h"
#include "tests/support/catch.h"

using namespace thinkd::sdk;

namespace {

// Loaded for good, as the host does: a plugin is never unloaded.
thinkd_plugin_entry_function load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  INFO(path);
  REQUIRE(library != nullptr);
  void* symbol = dlsym(library, "thinkd_plugin_entry");
  REQUIRE(symbol != nullptr);
  return reinterpret_cast<thinkd_plugin_entry_function>(symbol);
}

}  // namespace

TEST_CASE("a C++ plugin runs from its shared library") {
  const auto enter = load(CPP_PLUGIN);
  CHECK(enter(THINKD_ABI_MAJOR + 1, 0) == nullptr);
  const thinkd_plugin* plugin = enter(THINKD_ABI_MAJOR, THINKD_ABI_MINOR);
  REQUIRE(plugin != nullptr);
  CHECK(std::string(plugin->name) == "twice");
  REQUIRE(plugin->strategy_count == 1);
  const thinkd_strategy& strategy = *plugin->strategies[0];
  CHECK(std::string(strategy.name) == "twice");

  FakeHost host;
  RunRequest request;
  request.params = {{.name = "n", .kind = ParamKind::integer, .integer = 3}};
  CHECK(host.run(strategy, request) == THINKD_OK);
  CHECK(host.candidates() == std::vector<std::string>{"0.0", "0.1", "0.2"});
  CHECK(host.live() == 0);
  for (size_t stop = 0; stop < host.calls; ++stop) {  // an exception that stays inside the library
    FakeHost stopped;
    stopped.stop_at = stop;
    CHECK(stopped.run(strategy, request) == THINKD_STOPPED);
    CHECK(stopped.live() == 0);
  }
}

TEST_CASE("a C plugin needs the ABI header alone") {
  const thinkd_plugin* plugin = load(C_PLUGIN)(THINKD_ABI_MAJOR, THINKD_ABI_MINOR);
  REQUIRE(plugin != nullptr);
  FakeHost host;
  CHECK(host.run(*plugin->strategies[0], {}) == THINKD_OK);
  CHECK(host.candidates() == std::vector<std::string>{"0"});
  FakeHost stopped;
  stopped.stop_at = 1;
  CHECK(stopped.run(*plugin->strategies[0], {}) == THINKD_STOPPED);
}
