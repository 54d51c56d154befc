/*
 * idem.h - the whole public interface.
 */
#ifndef IDEM_H
#define IDEM_H

#include "base.h"
#include "buf.h"
#include "fingerprint.h"
#include "handler.h"
#include "http.h"
#include "json.h"
#include "key.h"
#include "log.h"
#include "policy.h"
#include "problem.h"
#include "scope.h"
#include "store.h"
#include "tables.h"
#include "wrap.h"

#endif
