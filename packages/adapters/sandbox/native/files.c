/* Folders, mounts and descriptors: the small steps that the root and the cells are made of. */
#include "box.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Declared here: the C library's header for it cannot stand beside the kernel's. */
int mount(const char *, const char *, const char *, unsigned long, const void *);

/* All folders of a path; those that are there stay as they are. Mostly only the last one is missing. */
int make_folders(const char *path) {
  char copy[PATH_MAX];
  size_t size = strlen(path);
  if (mkdir(path, 0755) == 0 || errno == EEXIST) return 0;
  if (size >= sizeof copy) {
    errno = ENAMETOOLONG;
    return fail("make folder", path);
  }
  memcpy(copy, path, size + 1);
  for (char *at = copy + 1;; at++) {
    if (*at != '/' && *at != '\0') continue;
    char was = *at;
    *at = '\0';
    if (mkdir(copy, 0755) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES) return fail("make folder", copy);
    *at = was;
    if (was == '\0') return 0;
  }
}

/* Something to mount on. */
int make_place(const char *path, bool is_folder) {
  struct stat there;
  if (is_folder) return make_folders(path);
  if (lstat(path, &there) == 0) return 0;
  char parent[PATH_MAX];
  const char *slash = strrchr(path, '/');
  if (slash && slash != path && slash - path < (long)sizeof parent) {
    memcpy(parent, path, slash - path);
    parent[slash - path] = '\0';
    if (make_folders(parent) < 0) return -1;
  }
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return fail("make file", path);
  close(file);
  return 0;
}

int write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int kept = errno;
  close(file);
  errno = kept;
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

/* Mounts a tree that hangs nowhere yet, and closes it. */
int place_tree(int tree, const char *target) {
  int result = syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
  int kept = errno;
  close(tree);
  errno = kept;
  return result;
}

/* Shows `source` (below the folder `from`), with all that is mounted in it, at `target`. */
int attach_tree(int from, const char *source, const char *target, unsigned long long attributes) {
  int tree = syscall(SYS_open_tree, from, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (tree < 0) return -1;
  struct mount_attr wanted = {.attr_set = attributes};
  struct stat kind;
  int result = -1;
  if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &wanted, sizeof wanted) == 0 &&
      fstat(tree, &kind) == 0 && make_place(target, S_ISDIR(kind.st_mode)) == 0)
    result = syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
  int kept = errno;
  close(tree);
  errno = kept;
  return result;
}

int mount_tmpfs(const char *path, const char *options, unsigned long flags) {
  return mount("tmpfs", path, "tmpfs", flags, options);
}

/* Closes every descriptor above 2 but these. */
void keep_only(int *kept, int count) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && kept[j - 1] > kept[j]; j--) {
      int swapped = kept[j];
      kept[j] = kept[j - 1];
      kept[j - 1] = swapped;
    }
  unsigned from = 3;
  for (int i = 0; i < count; i++) {
    if (kept[i] < (int)from) continue;
    if (kept[i] > (int)from) syscall(SYS_close_range, from, kept[i] - 1, 0);
    from = kept[i] + 1;
  }
  syscall(SYS_close_range, from, ~0u, 0);
}
