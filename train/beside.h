/* beside.h - files that came with a program. */
#ifndef BESIDE_H
#define BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The first that there is: `here`, from the present folder, then `name` in one of the
 * folders (NULL ends them), from the folder that the program lies in. False: there is
 * none, and path is `here`. */
bool find_beside(char *path, size_t size, const char *here, const char *name,
                 const char *const *folders);

/* The folders of data from that of a program: where it was built, where it was installed. */
extern const char *const data_folders[];

/* A file of data by its name: here, in the folder that the environment variable ATTN_DATA
 * names, or beside the program. False: there is none, and path is the name. */
bool find_data(char *path, size_t size, const char *name);

#endif
