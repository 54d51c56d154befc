/*
 * pages.h - what is published beside the tasks: a page for each type of
 * problem, and the policy that draft-ietf-httpapi-idempotency-key-header asks a
 * server to publish.  HTML for people, JSON for programs.
 */
#ifndef TASKS_PAGES_H
#define TASKS_PAGES_H

#include "tasks/turn.h"

void pages_problem(struct turn *t);
void pages_policy(struct turn *t);

/*
 * The settings as a policy: one JSON object, or the lines of an HTML <dl>.
 * Pure; settings are the effective ones of the request.
 */
void policy_json(const struct settings *s, enum idem_lang lang,
    struct idem_buf *out);
void policy_html(const struct settings *s, enum idem_lang lang,
    struct idem_buf *out);

#endif
