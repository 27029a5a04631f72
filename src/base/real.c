#include "attn/real.h"

#ifdef ATTN_DOUBLE
const char attn_built_for_double[] = "double";
#else
const char attn_built_for_float[] = "float";
#endif
