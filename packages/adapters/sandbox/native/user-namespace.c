/* The user namespace: who the caller is inside it. */
#include "box.h"
#include <stdio.h>

/* One user and one group, ours, are known inside; no capability reaches beyond. */
int map_user(uid_t user, gid_t group) {
  char line[64];
  if (write_file("/proc/self/setgroups", "deny") < 0 && errno != ENOENT) return fail("write", "/proc/self/setgroups");
  snprintf(line, sizeof line, "%u %u 1\n", user, user);
  if (write_file("/proc/self/uid_map", line) < 0) return fail("write", "/proc/self/uid_map");
  snprintf(line, sizeof line, "%u %u 1\n", group, group);
  if (write_file("/proc/self/gid_map", line) < 0) return fail("write", "/proc/self/gid_map");
  return 0;
}
