/* Every way a position can enter, in the order of --list. A new one is a
 * definition in a file position_NAME.c and a line here. */
POSITION(none)
POSITION(learned)
POSITION(sinusoidal)
POSITION(rope)
POSITION(rope_half)
POSITION(alibi)
