/* pci.c: finds a device's PCI address in the driver's files, because CUPTI's
 * records lack it and a call of the driver would be recorded. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "cupti.h"

/* Returns whether the driver's file about a device contains a text. */
static bool contains(const char *folder, const char *device, const char *text)
{
    char path[PATH_MAX], content[4096];
    ssize_t size = -1;
    int fd;

    snprintf(path, sizeof(path), "%s/%s/information", folder, device);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, content, sizeof(content) - 1);
    close(fd);
    content[size > 0 ? size : 0] = '\0';
    return strstr(content, text) != NULL;
}

bool cupti_pci_address(const char *folder, const char *uuid,
                       char address[CUPTI_PCI_ROOM])
{
    DIR *devices = opendir(folder);
    struct dirent *device;
    bool found = false;

    while (devices && !found && (device = readdir(devices)))
        if (device->d_name[0] != '.' &&
            strlen(device->d_name) < CUPTI_PCI_ROOM &&
            contains(folder, device->d_name, uuid)) {
            strcpy(address, device->d_name);
            found = true;
        }
    if (devices)
        closedir(devices);
    return found;
}
