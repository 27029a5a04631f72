/* task_setting.h (private) - the settings of a task, looked at before they are used. */
#ifndef ATTN_SRC_TASK_SETTING_H
#define ATTN_SRC_TASK_SETTING_H

#include "attn/error.h"

enum { ATTN_SETTING_MOST = 1 << 20 }; /* of anything counted: sums of two still fit int */

/* NULL when low <= value <= high; else what is wrong with --NAME (ATTN_BAD_USAGE). */
ATTN_MUST_CHECK const char *attn_task_setting(const char *name, int value, int low, int high,
                                              struct attn_error *e);

#endif
