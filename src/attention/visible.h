/* visible.h (private) - which keys a head sees at all, where masks are matrices or counts matter.
 */
#ifndef ATTN_SRC_VISIBLE_H
#define ATTN_SRC_VISIBLE_H

#include "kind.h"
#include "room.h"

/* Copies K and V into the room, with zeros for the keys that no query sees, so that 0 times
 * what they hold is 0 whatever it is; the head then reads the copies. */
void attn_drop_unseen(struct attn_head *h, const struct attn_room *room);

/* to[i] = ln n for the n keys that query i sees; 0 where it sees none. */
void attn_log_lengths(attn_real *to, const struct attn_head *h);

#endif
