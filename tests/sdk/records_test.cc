// Records against golden bytes, random round trips, and mutations: a decoder accepts only what
// encodes to the same bytes again, and explains everything else.

#include <random>
#include <type_traits>

#include "plugins/sdk/codec.h"
#include "tests/support/catch.h"

using namespace thinkd::sdk;

namespace {

// Fills a record with random values of every kind that its field list holds.
struct Filler {
  std::mt19937_64& random;
  uint64_t below(uint64_t limit) { return random() % limit; }

  void fill(bool& value) { value = below(2) == 1; }
  void fill(std::string& text) {
    text.clear();
    for (uint64_t i = below(6); i > 0; --i) {
      text += static_cast<char>(below(256));
    }
  }
  void fill(BranchId& branch) { branch.value = random(); }
  template <class T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (below(2) == 1) {
      fill(value.emplace());
    }
  }
  template <class T>
  void fill(std::vector<T>& items) {
    items.assign(below(4), T{});
    for (T& item : items) {
      fill(item);
    }
  }
  template <class T>
  void fill(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(below(static_cast<uint64_t>(last_value(T{})) + 1));
    } else if constexpr (std::is_class_v<T>) {
      T::each_field(value, [this](const char*, auto& field) { this->fill(field); });
    } else {
      value = static_cast<T>(random());
    }
  }
};

void mutate(Bytes& bytes, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1 << (random() % 8));
      break;
    case 1:
      bytes.resize(random() % bytes.size());
      break;
    case 2:
      bytes.insert(bytes.begin() + static_cast<long>(random() % bytes.size()), 7);
      break;
    default:  // a count or length that lies
      for (size_t i = random() % bytes.size(), n = 0; i < bytes.size() && n < 4; ++i, ++n) {
        bytes[i] = 0xff;
      }
  }
  if (random() % 2 == 0 && bytes.size() >= 4) {  // get past the size check, to the fields
    for (size_t i = 0; i < 4; ++i) {
      bytes[i] = static_cast<uint8_t>(bytes.size() >> (8 * i));
    }
  }
}

template <class Value, class Encode, class Decode>
void round_trips_and_mutations(uint64_t seed, Encode encode_value, Decode decode_bytes) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    Value value;
    Filler{random}.fill(value);
    const Bytes bytes = encode_value(value, 5);
    const auto decoded = decode_bytes(bytes);
    INFO("seed " << seed << " round " << round << " " << decoded.fault);
    REQUIRE(decoded.ok());
    REQUIRE(decoded.ticket == 5);
    REQUIRE(encode_value(decoded.value, 5) == bytes);
    for (int i = 0; i < 20; ++i) {
      Bytes bad = bytes;
      mutate(bad, random);
      const auto result = decode_bytes(bad);
      if (result.ok()) {
        REQUIRE(encode_value(result.value, result.ticket) == bad);
      } else {
        REQUIRE_FALSE(result.fault.empty());
      }
    }
  }
}

template <class R>
void check_request(uint64_t seed) {
  round_trips_and_mutations<R>(
      seed, [](const R& value, uint64_t ticket) { return encode(value, ticket); },
      [](const Bytes& bytes) { return decode<R>(bytes); });
}

template <class R>
void check_both(uint64_t seed) {
  check_request<R>(seed);
  using Result = typename R::Result;
  round_trips_and_mutations<Result>(
      seed + 1000,
      [](const Result& value, uint64_t ticket) { return encode_result<R>(value, ticket); },
      [](const Bytes& bytes) {
        auto result = decode_result<R>(bytes);
        if (result.status != THINKD_OK && result.fault.empty()) {
          result.fault = "a failure without words";
        }
        return result;
      });
}

}  // namespace

TEST_CASE("a record has exactly the bytes that verbs.h promises") {
  const Bytes fork = {28, 0, 0, 0, 8, 0, 1, 0, 9, 0, 0, 0, 0, 0,
                      0,  0, 3, 2, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0};
  CHECK(encode(Fork{{0x203}, 4}, 9) == fork);

  const Bytes append = {43, 0, 0, 0, 2,   0,   1, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // header
                        1,  0, 0, 0, 0,   0,   0, 0,                          // branch
                        1,                                                    // source: text
                        2,  0, 0, 0, 'h', 'i',                                // text
                        2,  0, 0, 0, 7,   0,   0, 0, 0, 1, 0, 0};             // tokens 7, 256
  CHECK(encode(Append{{1}, Source::text, "hi", {7, 256}}) == append);

  const Bytes random = {32, 0, 0, 0, 15, 0x80, 1, 0, 1, 0, 0, 0, 0, 0, 0,    0,
                        0,  0, 0, 0, 1,  0,    0, 0, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f};
  CHECK(encode_result<Random>({{0.5}}, 1) == random);

  const Bytes failure = {26, 0, 0, 0, 15, 0x80, 1, 0, 1, 0, 0, 0,   0,
                         0,  0, 0, 3, 0,  0,    0, 2, 0, 0, 0, 'n', 'o'};
  CHECK(encode_failure(Verb::random, 1, THINKD_LIMIT, "no") == failure);
  const auto decoded = decode_result<Random>(failure);
  CHECK(decoded.status == THINKD_LIMIT);
  CHECK(decoded.fault == "no");
}

TEST_CASE("every record survives the trip, and no mutation of one is believed wrongly") {
  check_both<Open>(1);
  check_both<Append>(2);
  check_both<Extend>(3);
  check_both<Logprobs>(4);
  check_both<Hidden>(5);
  check_both<Tokens>(6);
  check_both<Text>(7);
  check_both<Fork>(8);
  check_both<Truncate>(9);
  check_request<Drop>(10);
  check_both<Splice>(11);
  check_both<Verify>(12);
  check_both<Random>(13);
  check_both<Now>(14);
  check_request<Emit>(15);
  check_request<RunRequest>(16);
}

TEST_CASE("a record cut anywhere is refused") {
  const Bytes bytes = encode(Extend{{{1}, {2}}, 16, {"\n\n"}, {}, true});
  for (size_t size = 0; size < bytes.size(); ++size) {
    Bytes cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    CHECK_FALSE(decode<Extend>(cut).ok());
    if (size >= 4) {
      cut[0] = static_cast<uint8_t>(size);
      CHECK_FALSE(decode<Extend>(cut).ok());
    }
  }
}

TEST_CASE("errors name the field and both numbers") {
  Bytes bytes = encode(Tokens{{1}, 0, 5});
  SECTION("another version") {
    bytes[6] = 2;
    CHECK(decode<Tokens>(bytes).fault == "tokens: version 2; this build reads version 1");
    CHECK_FALSE(peek(bytes).ok());
  }
  SECTION("another verb") {
    CHECK(decode<Fork>(bytes).fault == "fork: verb 6 where 8 is expected");
    CHECK(peek(bytes).value.verb == 6);
  }
  SECTION("a size that lies") {
    bytes[0] = 99;
    CHECK(decode<Tokens>(bytes).fault == "tokens: size says 99, the record has 32 bytes");
  }
  SECTION("bytes too many") {
    bytes.push_back(0);
    bytes[0] = 33;
    CHECK(decode<Tokens>(bytes).fault == "tokens: 1 bytes too many");
  }
  SECTION("a count beyond the record") {
    Bytes extend = encode(Extend{});
    extend[16] = 9;
    CHECK_THAT(decode<Extend>(extend).fault, Contains("branches claims 9 items in 29 bytes"));
  }
  SECTION("an enum of tomorrow") {
    Bytes emit = encode(Emit{});
    emit[16] = 200;
    CHECK(decode<Emit>(emit).fault == "emit: event is 200; the last known value is 4");
  }
  SECTION("a record beyond the limit") {
    const Append append{{1}, Source::text, std::string(kMaxRecordBytes, 'x'), {}};
    CHECK_THAT(decode<Append>(encode(append)).fault, Contains("at most 16777216 bytes"));
  }
}

TEST_CASE("an argument hash sees recipes, not ids") {
  const auto hash_of = [](BranchId id) { return id.value % 10 == 3 ? "same" : "other"; };
  CHECK(encode_arguments(Fork{{3}, 2}, hash_of) == encode_arguments(Fork{{13}, 2}, hash_of));
  CHECK(encode_arguments(Fork{{3}, 2}, hash_of) != encode_arguments(Fork{{4}, 2}, hash_of));
  CHECK(encode_arguments(Fork{{3}, 2}, hash_of) != encode_arguments(Fork{{3}, 1}, hash_of));
}
