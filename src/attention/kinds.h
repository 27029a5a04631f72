/* Every kind of attention, in the order of --list. A new one is a file
 * kind_NAME.c and a line here. */
KIND(dot)
KIND(additive)
KIND(bilinear)
KIND(linear)
KIND(linear_identity)
KIND(gauss)
