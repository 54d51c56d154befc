/*
 * answer_fields.h - the fields of an answer that are kept and given back by
 * rules of their own.
 */
#ifndef ENGINE_ANSWER_FIELDS_H
#define ENGINE_ANSWER_FIELDS_H

#include "idem/http.h"

/* In a record, the Origin of the first request; no application can send it. */
#define ANSWER_ORIGIN IDEM_LIT("Idempotency-Origin")

/* Idempotency-*: those names are ours. */
bool answer_is_own(struct idem_span name);
bool answer_is_cache_control(struct idem_span name);
bool answer_is_cors(struct idem_span name);
/* Content-Type and Content-Encoding say what is in a body. */
bool answer_is_of_content(struct idem_span name);

/* Do these lines belong to a page for people? */
bool answer_is_page(struct idem_span lines);
bool answer_has_cors(struct idem_span lines);
/* Value of ANSWER_ORIGIN; absent: none. */
struct idem_span answer_origin(struct idem_span lines);

#endif
