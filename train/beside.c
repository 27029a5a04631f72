#include "beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool find_beside(char *path, size_t size, const char *here, const char *name,
                 const char *const *folders)
{
    char program[4096], *slash;
    ssize_t n;

    if (access(here, F_OK) != 0) {
        n = readlink("/proc/self/exe", program, sizeof program - 1);
        program[n > 0 ? n : 0] = '\0';
        slash = strrchr(program, '/');
        for (; slash && *folders; folders++) {
            const int length =
                snprintf(path, size, "%.*s/%s/%s", (int)(slash - program), program, *folders, name);
            if (length > 0 && (size_t)length < size && access(path, F_OK) == 0) return true;
        }
    }
    snprintf(path, size, "%s", here);
    return access(here, F_OK) == 0;
}
