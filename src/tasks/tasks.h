/* tasks.h - the list of all tasks, the default one first. TASK(name) stands
 * for attn_task_NAME in task_NAME.c; task.c reads the list. */
TASK(recall)
TASK(reverse)
TASK(copy)
TASK(sort)
TASK(histogram)
TASK(text)
