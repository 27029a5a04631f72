/* tasks.h - the list of all tasks, the default one first. TASK(name) stands
 * for attn_task_NAME in task_NAME.c; task.c reads the list. What users call it may
 * have a hyphen where the name here has an underscore. */
TASK(recall)
TASK(reverse)
TASK(copy)
TASK(sort)
TASK(histogram)
TASK(text)
TASK(window_sum)
TASK(first)
TASK(max)
TASK(backcopy)
TASK(induction)
TASK(regression)
TASK(kernel)
TASK(margin)
TASK(noise)
