/* wide.h - the type that exact results are computed in: more digits than attn_real. */
#ifndef WIDE_H
#define WIDE_H

#ifdef ATTN_DOUBLE
typedef long double wide;
#else
typedef double wide;
#endif

#endif
