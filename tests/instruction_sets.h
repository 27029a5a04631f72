/* instruction_sets.h - the kernels of every instruction set, one after the other. */
#ifndef INSTRUCTION_SETS_H
#define INSTRUCTION_SETS_H

#include <stdbool.h>

#include "kernels/kernels.h"

int instruction_sets(void); /* how many there are, for a loop test over them */

/* Number i; NULL, after saying so, where this processor cannot run it. */
const struct attn_kernels *instruction_set(int i);

/* Makes number i the one that the library uses; false where it cannot run here. */
bool choose_instruction_set(int i);

#endif
