/* version.h - which release this is. */
#ifndef ATTN_VERSION_H
#define ATTN_VERSION_H

#define ATTN_VERSION "0.1.0"

#endif
