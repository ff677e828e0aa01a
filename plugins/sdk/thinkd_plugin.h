/* The plugin ABI of thinkd, in C99. A plugin is a shared library that exports one function,
 * thinkd_plugin_entry; what it gives and what it gets are tables of functions and flat records
 * (plugins/sdk/records.h names their fields). The built-in strategies go through the same tables.
 *
 * Versions. Tables begin with their own size and only grow at the end: read a member only where
 * struct_size covers it. A plugin loads where the major numbers are equal and the minor number that
 * it needs is not above the host's.
 *
 * Threads. The host calls run() on a thread of its own that may sleep for long; several run() of
 * one strategy may be under way at once, each with its own host table. Everything in a host table
 * is called from the thread that run() is on, and never from inside a sink.
 *
 * Ownership. Nobody frees what the other side made. Records given to submit() and texts given to
 * fail() are copied before the call returns. Records given to a sink are valid during that call
 * only. Tables and texts of a plugin live as long as the library is loaded; a host table and a
 * request, as long as run().
 *
 * Errors. Functions return a thinkd_status. No exception and no longjmp crosses this border. */
#ifndef THINKD_PLUGIN_H
#define THINKD_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define THINKD_ABI_MAJOR 1
#define THINKD_ABI_MINOR 0

typedef int32_t thinkd_status;
enum {
  THINKD_OK = 0,
  THINKD_STOPPED = 1, /* the run is over (budget, deadline, cancel): clean up and return this now */
  THINKD_INVALID = 2, /* a record, an id or an argument is wrong */
  THINKD_LIMIT = 3,   /* a limit refuses it; the text holds both numbers */
  THINKD_UNAVAILABLE = 4, /* this model, backend or build cannot do it */
  THINKD_FAILED = 5       /* anything else that went wrong */
};

enum { THINKD_ANY = 0, THINKD_ALL = 1 };
enum { THINKD_STRATEGY = 0, THINKD_ATTACHMENT = 1 /* reserved */ };

/* Takes one result record. Must not call the host, throw or jump. */
typedef void (*thinkd_sink)(void* sink_context, const uint8_t* record, size_t size);

/* Takes one text, valid during the call. */
typedef void (*thinkd_say)(void* say_context, const char* text, size_t size);

/* What a strategy may ask of its host. `context` goes back as the first argument. */
typedef struct thinkd_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  void* context;

  /* Hands in one request record (its ticket field is 0) and gets a ticket for its result. Nothing
   * runs before wait(): all that is submitted between two waits starts at one tick of the run's
   * clock, in the order of submission. The one-way verbs drop and emit are done at once and have no
   * result: ticket 0. A branch that an unfinished extend, logprobs or hidden holds may be named by
   * drop alone, which ends the work: its part of the result then says `dropped`. Not THINKD_OK:
   * nothing was taken, error() says why. After THINKD_STOPPED only drop is taken. */
  thinkd_status (*submit)(void* context, const uint8_t* record, size_t size, uint64_t* ticket);

  /* Lets the clock run until one (THINKD_ANY) or all (THINKD_ALL) of `tickets` are done and gives
   * their results to `sink`, on this thread, before it returns. THINKD_ANY gives exactly one
   * result, the first in the order (tick, branch path, ticket); a result that is there already is
   * given without letting the clock run. THINKD_ALL gives all of them in that order. Verbs other
   * than extend are done at the tick at which they were submitted. Each result is given once; its
   * ticket is then gone. Work that was submitted but is not named runs on meanwhile. A verb that
   * fails gives a result that says so; wait() itself is then THINKD_OK. THINKD_STOPPED: the run is
   * over, no result was given. Unknown or doubled tickets and count 0 are THINKD_INVALID. */
  thinkd_status (*wait)(void* context, const uint64_t* tickets, size_t count, uint32_t until,
                        thinkd_sink sink, void* sink_context);

  /* Why the last submit() or wait() was not THINKD_OK: zero-terminated, valid until the next call.
   */
  const char* (*error)(void* context);

  /* Says why run() is about to return THINKD_INVALID, _LIMIT, _UNAVAILABLE or _FAILED. */
  void (*fail)(void* context, const char* text, size_t size);
} thinkd_host;

/* One strategy. Texts are zero-terminated UTF-8. */
typedef struct thinkd_strategy {
  uint32_t struct_size;
  uint32_t kind;             /* THINKD_STRATEGY */
  const char* name;          /* [a-z][a-z0-9_]*, unique in the host */
  const char* description;   /* one line */
  const char* source;        /* where the algorithm comes from: authors, year, identifier */
  const char* params_schema; /* JSON Schema of an object; every member of it has a default */
  const void* self;          /* the first argument of run(), the plugin's own */

  /* Runs to the end. `request` is a run record (records.h: RunRequest). Returns THINKD_OK when the
   * strategy is done, THINKD_STOPPED when a call said so, else a failure that fail() has explained.
   * The answer is what the rule last emitted makes of the candidates emitted, however it ended.
   * Branches that were not dropped by then, the host drops. */
  thinkd_status (*run)(const void* self, const thinkd_host* host, const uint8_t* request,
                       size_t size);

  /* Reads the parameters of such a request and runs nothing: THINKD_OK or THINKD_INVALID, then with
   * one call of `say` that names the parameter and the allowed range. Any thread. May be NULL. */
  thinkd_status (*check)(const void* self, const uint8_t* request, size_t size, thinkd_say say,
                         void* say_context);
} thinkd_strategy;

/* What a plugin gives. */
typedef struct thinkd_plugin {
  uint32_t struct_size;
  uint32_t abi_minor; /* the least that it needs of the host */
  const char* name;
  const char* version;
  size_t strategy_count;
  const thinkd_strategy* const* strategies;
} thinkd_plugin;

/* The one exported symbol. NULL: the plugin cannot work with a host of this version. */
typedef const thinkd_plugin* (*thinkd_plugin_entry_function)(uint32_t abi_major,
                                                             uint32_t abi_minor);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const thinkd_plugin*
thinkd_plugin_entry(uint32_t abi_major, uint32_t abi_minor);

#ifdef __cplusplus
}
#endif

#endif
