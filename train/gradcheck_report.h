/* gradcheck_report.h - results as a table, or as JSON objects, one a line. */
#ifndef GRADCHECK_REPORT_H
#define GRADCHECK_REPORT_H

#include "gradcheck_run.h"

/* One tensor in one configuration, as gradcheck_plan.each; context is a bool: as JSON. */
void gradcheck_report_each(void *json, const struct gradcheck_topic *topic, const int *choice,
                           const char *tensor, const struct gradcheck_comparison *c);
void gradcheck_report_table(const struct gradcheck_result *r);
void gradcheck_report_json(const struct gradcheck_result *r);

/* What can be chosen by name, and which pairs of choices cannot be made, and why. */
void gradcheck_report_choices(void);
void gradcheck_report_plants(void);

#endif
