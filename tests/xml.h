/* xml.h - whether a text is well-formed XML, as far as pictures use it: one root, elements
 * that nest, quoted attributes of different names, entities that are known, UTF-8 without
 * what XML forbids. */
#ifndef XML_H
#define XML_H

#include <stddef.h>

/* NULL, or what is wrong, with the byte where. Static storage. */
const char *xml_fault(const char *text, size_t n);

/* NULL, or an attribute's value that holds "nan" or "inf" as a number: in a coordinate. */
const char *xml_bad_number(const char *text);

#endif
