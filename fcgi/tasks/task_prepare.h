/*
 * task_prepare.h - a request as a struct task_order, judged outside the store.
 * Each is a handler's prepare(); call is a turn's.
 */
#ifndef TASKS_TASK_PREPARE_H
#define TASKS_TASK_PREPARE_H

#include "idem/handler.h"

bool task_prepare_whole(void *app, struct idem_call *call,
    struct idem_buf *input, struct idem_response *res);
bool task_prepare_patch(void *app, struct idem_call *call,
    struct idem_buf *input, struct idem_response *res);
bool task_prepare_delete(void *app, struct idem_call *call,
    struct idem_buf *input, struct idem_response *res);

#endif
