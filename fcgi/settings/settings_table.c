/*
 * settings_table.c - every setting of every program, one row each.
 */
#include <stddef.h>

#include "settings/settings_table.h"

#define T USED_BY(SETTINGS_TASKS)
#define G USED_BY(SETTINGS_GUARD)
#define I USED_BY(SETTINGS_IDEM)
/* A name that is known, so that a file may hold it already. */
#define NOBODY_YET 0

#define PROCESS .route = false
#define ROUTE .route = true
#define TO(field) .at = offsetof(struct settings, field)
#define ALL(text) .dflt = { text, text, text }
/* Durations in milliseconds. */
#define HOUR_MS 3600000
#define DAY_MS (24 * (uint64_t)HOUR_MS)
#define YEARS .min = 1, .max = 3650 * DAY_MS, .allowed = "from 1ms to 3650d"
#define YEARS_OR_0 .max = 3650 * DAY_MS, .allowed = "from 0 to 3650d"
#define UP_TO_1H .min = 1, .max = HOUR_MS, .allowed = "from 1ms to 1h"
#define UP_TO_10M .max = 600000, .allowed = "from 0 to 10m"
#define UP_TO_10M_MS .max = 600000, .allowed = "from 0 to 600000"
#define UP_TO_1G .min = 1, .max = (uint64_t)1 << 30, \
	.allowed = "from 1B to 1G"

const struct setting settings_table[] = {
	{ "IDEM_STORE", SETTING_STORE, PROCESS, T | G | I, TO(store),
	  .help = "directory of the store (required)" },
	{ "IDEM_DURABILITY", SETTING_SWITCH, PROCESS, T | G | I, TO(durable),
	  ALL("full"), .words = { "full", "none" },
	  .help = "full: an answer leaves after what it rests on is on disk" },
	{ "IDEM_MAX_STORE", SETTING_SIZE, PROCESS, T | G | I,
	  TO(max_store_bytes), ALL("1G"), .min = (uint64_t)1 << 20,
	  .max = (uint64_t)1 << 40, .allowed = "from 1M to 1024G",
	  .help = "the store's file grows up to this" },
	{ "IDEM_STORE_WAIT", SETTING_DURATION, PROCESS, T | G | I,
	  TO(store_wait_ms), ALL("10s"), UP_TO_1H,
	  .help = "how long to wait for a store that is stuck" },
	{ "IDEM_MAX_KEYS", SETTING_COUNT, PROCESS, T | G | I,
	  TO(policy.max_keys), ALL("10000"), .min = 1, .max = 1000000000,
	  .allowed = "from 1 to 1000000000",
	  .help = "records that are held, of all states" },
	{ "IDEM_WHEN_FULL", SETTING_SWITCH, ROUTE, T | G, TO(policy.evict),
	  ALL("evict"), .words = { "evict", "refuse" },
	  .help = "drop the oldest done record, or answer 503" },
	{ "IDEM_MIN_KEEP", SETTING_DURATION, PROCESS, T | G,
	  TO(policy.min_keep_ms), ALL("1h"), YEARS_OR_0,
	  .help = "no done record younger than this is dropped" },
	{ "IDEM_TTL", SETTING_DURATION, ROUTE, T | G | I, TO(policy.ttl_ms),
	  ALL("24h"), YEARS, .help = "how long an answer is kept" },
	{ "IDEM_UNKNOWN_TTL", SETTING_DURATION, ROUTE, T | G | I,
	  TO(policy.unknown_ttl_ms), ALL("30d"), YEARS,
	  .help = "how long an unknown outcome is kept" },
	{ "IDEM_MAX_BODY", SETTING_MEMORY, PROCESS, T | G,
	  TO(policy.max_body_bytes), ALL("1M"), UP_TO_1G,
	  .help = "the longest request body; over it 413" },
	{ "IDEM_MAX_RESPONSE", SETTING_MEMORY, PROCESS, T | G | I,
	  TO(policy.max_response_bytes), ALL("256K"), UP_TO_1G,
	  .help = "the longest answer body that is kept" },

	{ "IDEM_METHODS", SETTING_METHODS, ROUTE, T | G, TO(policy.methods),
	  ALL("POST,PATCH"), .help = "the methods that are protected" },
	{ "IDEM_REQUIRE_KEY", SETTING_SWITCH, ROUTE, T | G,
	  TO(policy.require_key), ALL("off"), .words = { "on", "off" },
	  .help = "on: 400 where there is no key" },
	{ "IDEM_SCOPE", SETTING_SCOPE, ROUTE, T | G, TO(policy.scope),
	  .help = "who is asking; not set: REMOTE_USER, else Authorization" },
	{ "IDEM_ANONYMOUS", SETTING_SWITCH, ROUTE, T | G, TO(policy.anonymous),
	  .dflt = { "allow", "refuse", "refuse" },
	  .words = { "allow", "refuse" },
	  .help = "keys of those who do not say who they are" },
	{ "IDEM_KEEP_5XX", SETTING_SWITCH, ROUTE, T | G, TO(policy.keep_5xx),
	  .dflt = { "off", "on", "off" }, .words = { "on", "off" },
	  .help = "on: a 5xx answer is kept; off: the key is released" },
	{ "IDEM_ON_UNKNOWN", SETTING_SWITCH, ROUTE, T | G,
	  TO(policy.retry_unknown), ALL("hold"), .words = { "retry", "hold" },
	  .help = "a worker died in the middle: hold the key, or run again" },
	{ "IDEM_KEEP_HEADERS", SETTING_FIELDS, ROUTE, T | G | I,
	  TO(policy.keep_headers), ALL(""),
	  .help = "more response headers that a replay carries" },
	{ "IDEM_LANG", SETTING_LANG, ROUTE, T | G, TO(policy.lang),
	  .dflt = { "uz", "en", "en" },
	  .help = "language where Accept-Language names none of them" },
	{ "IDEM_PROBLEM_BASE", SETTING_URI, ROUTE, T | G,
	  TO(policy.problem_base),
	  .dflt = { "https://vazifalar-api.example/xatolar/",
	            "/idempotency/problems/", NULL },
	  .help = "what the type of a problem begins with" },
	{ "IDEM_CORS_ORIGINS", SETTING_ORIGINS, ROUTE, T | G, TO(cors_origins),
	  .help = "origins that may read the answers" },
	{ "IDEM_BASE", SETTING_BASE, ROUTE, T | G, TO(base), ALL(""),
	  .help = "path in front of every route" },
	{ "IDEM_STATUS", SETTING_SWITCH, ROUTE, NOBODY_YET, TO(status_for_all),
	  ALL("off"), .words = { "on", "off" },
	  .help = "on: the status page is served to more than loopback" },
	{ "IDEM_WAIT", SETTING_DURATION, ROUTE, T | G, TO(policy.wait_ms),
	  UP_TO_10M, .help = "how long a retry waits for the running "
	      "request; not set: 0 for header keys, else 25s" },
	{ "IDEM_MAX_WAIT", SETTING_DURATION, ROUTE, T | G,
	  TO(policy.max_wait_ms), ALL("25s"), UP_TO_10M,
	  .help = "the most that Prefer: wait=N gets" },

	{ "IDEM_TASK_DELAY_MS", SETTING_MS, ROUTE, T, TO(task_delay_ms),
	  ALL("0"), UP_TO_10M_MS,
	  .help = "makes the creation of a task slow, for the experiment" },
	{ "IDEM_PAY_PROVIDER", SETTING_PATH, PROCESS, NOBODY_YET,
	  TO(pay_provider),
	  .help = "the program that talks to the payment provider" },
	{ "IDEM_PAY_TIMEOUT", SETTING_DURATION, PROCESS, NOBODY_YET,
	  TO(pay_timeout_ms), ALL("30s"), UP_TO_1H,
	  .help = "how long it may take" },
	{ "IDEM_PAY_DELAY_MS", SETTING_MS, PROCESS, NOBODY_YET,
	  TO(pay_delay_ms), ALL("300"), UP_TO_10M_MS,
	  .help = "how long the shipped provider takes" },
	{ "IDEM_PAY_LEDGER", SETTING_PATH, PROCESS, NOBODY_YET,
	  TO(pay_ledger),
	  .help = "the shipped provider's ledger file" },

	{ "IDEM_BACKEND", SETTING_BACKEND, PROCESS, G, TO(backend),
	  .help = "the application behind the guard" },
	{ "IDEM_BACKEND_TIMEOUT", SETTING_DURATION, ROUTE, G,
	  TO(backend_timeout_ms), ALL("60s"), UP_TO_1H,
	  .help = "how long it may take" },
	{ "IDEM_SCRIPTS", SETTING_ENDINGS, PROCESS, G, TO(scripts),
	  ALL(".php"), .help = "what the names of programs end in" },
	{ "IDEM_KEY_FROM", SETTING_KEY_FROM, ROUTE, T | G, TO(policy.key_from),
	  ALL("header:Idempotency-Key"), .help = "where the key stands" },
	{ "IDEM_WHEN", SETTING_WHEN, ROUTE, T | G, TO(policy.when),
	  .help = "conditions for a request to count as keyed" },
	{ "IDEM_KEEP", SETTING_KEEP, ROUTE, T | G, TO(policy.keep),
	  .help = "which answers count as done" },
	{ "IDEM_FINGERPRINT", SETTING_FINGERPRINT, ROUTE, T | G,
	  TO(policy.fingerprint), ALL("body"),
	  .help = "what counts in the fingerprint" },
	{ "IDEM_FINGERPRINT_IGNORE", SETTING_IGNORE, ROUTE, T | G,
	  TO(policy.fingerprint_ignore), .help = "what does not" },
	{ "IDEM_ROUTES", SETTING_PATH, PROCESS, G, TO(routes),
	  .help = "file with settings by route; not set: .htidem.routes "
	      "beside the program" },
};
const size_t settings_nrows =
    sizeof settings_table / sizeof settings_table[0];

_Static_assert(sizeof settings_table / sizeof settings_table[0] <=
    SETTINGS_MAX, "struct settings has one value for each row");
