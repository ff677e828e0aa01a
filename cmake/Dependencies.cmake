# Everything comes from the distribution; `./dev setup` names what is missing.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(RocksDB REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.81 REQUIRED CONFIG)

find_package(PkgConfig REQUIRED)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)

if(THINKD_TESTS)
  find_package(Catch2 REQUIRED)
endif()
