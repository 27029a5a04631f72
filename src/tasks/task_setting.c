#include "tasks/task_setting.h"

#include <stddef.h>

const char *attn_task_setting(const char *name, int value, int low, int high, struct attn_error *e)
{
    if (value >= low && value <= high) return NULL;
    return attn_fail(e, ATTN_BAD_USAGE, "--%s %d: expected %d to %d", name, value, low, high);
}
