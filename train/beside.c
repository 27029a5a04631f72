#include "beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attn/file.h"

/* The folder that the program lies in; false where the system does not tell. */
static bool own_folder(char *folder, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", folder, size - 1);
    char *slash;

    folder[n > 0 ? n : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

bool find_beside(char *path, size_t size, const char *here, const char *name,
                 const char *const *folders)
{
    char own[4096], folder[4096];

    if (access(here, F_OK) != 0 && own_folder(own, sizeof own))
        for (; *folders; folders++)
            if (attn_path_join(folder, sizeof folder, own, *folders) &&
                attn_path_join(path, size, folder, name) && access(path, F_OK) == 0)
                return true;
    snprintf(path, size, "%s", here);
    return access(here, F_OK) == 0;
}

const char *const data_folders[] = {"../data", "../share/attn", NULL};

bool find_data(char *path, size_t size, const char *name)
{
    const char *own = getenv("ATTN_DATA");

    if (access(name, F_OK) != 0 && own && attn_path_join(path, size, own, name) &&
        access(path, F_OK) == 0)
        return true;
    return find_beside(path, size, name, name, data_folders);
}
