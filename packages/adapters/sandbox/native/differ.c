/*
 * lathe-box differ LOWER UPPER SECONDS NANOSECONDS: what a fork differs in from its base as it is now, read from the
 * fork's upper layer.
 *
 * Seven words for each path, each ended by a NUL: what became of it (`A`dded, `M`odified, `D`eleted, or only its
 * `P`ermissions), whether the base has changed there since the time given (`c` or `-`), kind and permissions in
 * the base, kind and permissions in the fork, and the path. Kinds: `f`ile, `d` folder, `l`ink, `o`ther, `-` nothing.
 * A folder comes before what is in it. A copy of a file that nobody has changed is no difference.
 */
#include "box.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* An open folder of each layer; -1 where that layer has none. */
struct place {
  int lower, upper;
  const char *path;
  /* The base has changed the folder's names since. */
  bool is_moved;
};

struct thing {
  bool is_there;
  struct stat stat;
};

static struct timespec since;
static bool has_failed;

static void say_failure(const char *what, const char *path) {
  has_failed = true;
  fprintf(stderr, "%s %s: %s\n", what, path, strerror(errno));
}

static bool is_after(struct timespec time) {
  return time.tv_sec > since.tv_sec || (time.tv_sec == since.tv_sec && time.tv_nsec > since.tv_nsec);
}

static char kind_of(const struct thing *thing) {
  if (!thing->is_there) return '-';
  if (S_ISREG(thing->stat.st_mode)) return 'f';
  if (S_ISDIR(thing->stat.st_mode)) return 'd';
  return S_ISLNK(thing->stat.st_mode) ? 'l' : 'o';
}

static void say(char what, bool is_conflict, const struct thing *old, const struct thing *new, const char *path) {
  printf("%c%c%c%c", what, '\0', is_conflict ? 'c' : '-', '\0');
  printf("%c%c%o%c", kind_of(old), '\0', old->is_there ? old->stat.st_mode & 07777 : 0, '\0');
  printf("%c%c%o%c%s%c", kind_of(new), '\0', new->is_there ? new->stat.st_mode & 07777 : 0, '\0', path, '\0');
}

static struct thing look(int folder, const char *name) {
  struct thing thing = {0};
  thing.is_there = folder >= 0 && fstatat(folder, name, &thing.stat, AT_SYMLINK_NOFOLLOW) == 0;
  return thing;
}

static int go_into(int folder, const char *name) {
  return folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_same_file(int lower, int upper) {
  static char left[CHUNK], right[CHUNK];
  for (;;) {
    ssize_t had = read(lower, left, sizeof left), has = read(upper, right, sizeof right);
    if (had < 0 || had != has || memcmp(left, right, had) != 0) return false;
    if (had == 0) return true;
  }
}

static bool is_same_content(const struct place *at, const char *name, const struct thing *old, const struct thing *new) {
  if (kind_of(old) == 'l') {
    char left[PATH_MAX], right[PATH_MAX];
    ssize_t had = readlinkat(at->lower, name, left, sizeof left), has = readlinkat(at->upper, name, right, sizeof right);
    return had >= 0 && had == has && memcmp(left, right, had) == 0;
  }
  if (kind_of(old) != 'f') return kind_of(old) == 'd' || old->stat.st_rdev == new->stat.st_rdev;
  if (old->stat.st_size != new->stat.st_size) return false;
  int lower = openat(at->lower, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  int upper = openat(at->upper, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  bool is_same = lower >= 0 && upper >= 0 && is_same_file(lower, upper);
  if (lower >= 0) close(lower);
  if (upper >= 0) close(upper);
  return is_same;
}

static bool is_whiteout(const struct thing *thing) {
  return thing->is_there && S_ISCHR(thing->stat.st_mode) && thing->stat.st_rdev == makedev(0, 0);
}

static bool has_mark(int folder, const char *name, const char *mark) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name);
  return lgetxattr(path, mark, NULL, 0) >= 0;
}

static bool is_opaque(int folder, const char *name) {
  char path[PATH_MAX], value[2] = "";
  snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name);
  return lgetxattr(path, "user.overlay.opaque", value, sizeof value) == 1 && value[0] == 'y';
}

static char *joined(const char *folder, const char *name) {
  char *path = malloc(strlen(folder) + strlen(name) + 2);
  if (!path) exit(1);
  if (*folder) sprintf(path, "%s/%s", folder, name);
  else strcpy(path, name);
  return path;
}

typedef void visit(const struct place *at, const char *name);

/* In the order of their bytes, so that the answer does not depend on the disk. */
static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void each_name(int folder, const struct place *at, visit *visit) {
  int twin = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = twin < 0 ? NULL : fdopendir(twin);
  if (folder >= 0 && !list) return say_failure("read", at->path);
  char **names = NULL;
  size_t count = 0, room = 0;
  for (struct dirent *entry; list && (entry = readdir(list));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (count == room && !(names = realloc(names, (room = room ? room * 2 : 64) * sizeof *names))) exit(1);
    if (!(names[count++] = strdup(entry->d_name))) exit(1);
  }
  if (list) closedir(list);
  if (count > 0) qsort(names, count, sizeof *names, compare_names);
  for (size_t i = 0; i < count; i++) {
    visit(at, names[i]);
    free(names[i]);
  }
  free(names);
}

/* Of a folder that is gone all that is in it now, so that nothing the base has got since is lost unseen. */
static void say_gone(const struct place *at, const char *name) {
  const struct thing nothing = {0};
  struct thing old = look(at->lower, name);
  if (!old.is_there) return;
  char *path = joined(at->path, name);
  say('D', kind_of(&old) != 'd' && is_after(old.stat.st_ctim), &old, &nothing, path);
  if (kind_of(&old) == 'd') {
    struct place below = {.lower = go_into(at->lower, name), .upper = -1, .path = path};
    if (below.lower < 0) say_failure("read", path);
    else {
      each_name(below.lower, &below, say_gone);
      close(below.lower);
    }
  }
  free(path);
}

static void say_unless_above(const struct place *at, const char *name) {
  if (!look(at->upper, name).is_there) say_gone(at, name);
}

static void compare(const struct place *at, const char *name);

/* What is in a folder of the fork. */
static void go_below(const struct place *at, const char *name, const char *path, const struct thing *old) {
  bool was_folder = kind_of(old) == 'd';
  struct place below = {.lower = was_folder ? go_into(at->lower, name) : -1, .upper = go_into(at->upper, name)};
  below.path = path;
  below.is_moved = was_folder ? is_after(old->stat.st_ctim) : at->is_moved;
  if (below.upper < 0 || (was_folder && below.lower < 0)) say_failure("read", path);
  else {
    each_name(below.upper, &below, compare);
    if (was_folder && is_opaque(at->upper, name)) each_name(below.lower, &below, say_unless_above);
  }
  if (below.upper >= 0) close(below.upper);
  if (below.lower >= 0) close(below.lower);
}

static void compare(const struct place *at, const char *name) {
  struct thing old = look(at->lower, name), new = look(at->upper, name);
  if (is_whiteout(&new)) return say_gone(at, name);
  char *path = joined(at->path, name);
  bool is_changed = is_after(old.stat.st_ctim);
  if (!old.is_there) {
    /* One that was copied from the base, which has lost it since; or another's that was moved here. */
    bool was_there = at->is_moved && has_mark(at->upper, name, "user.overlay.origin");
    say('A', was_there, &old, &new, path);
  } else if (kind_of(&old) != kind_of(&new)) {
    say('M', is_changed, &old, &new, path);
    struct place below = {.lower = go_into(at->lower, name), .upper = -1, .path = path};
    if (kind_of(&old) == 'd') each_name(below.lower, &below, say_gone);
    if (below.lower >= 0) close(below.lower);
  } else if (!is_same_content(at, name, &old, &new)) say('M', is_changed, &old, &new, path);
  else if (kind_of(&new) != 'l' && (old.stat.st_mode ^ new.stat.st_mode) & 07777)
    say('P', kind_of(&new) != 'd' && is_changed, &old, &new, path);
  if (kind_of(&new) == 'd') go_below(at, name, path, &old);
  free(path);
}

/* `words`: LOWER UPPER SECONDS NANOSECONDS. Exit code 1 when something could not be read. */
int differ(char **words, int count) {
  if (count != 4) return 2;
  struct place top = {.path = ""};
  struct stat there;
  since.tv_sec = strtoll(words[2], NULL, 10);
  since.tv_nsec = strtoll(words[3], NULL, 10);
  top.lower = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  top.upper = open(words[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (top.lower < 0 || top.upper < 0 || fstat(top.lower, &there) < 0) {
    say_failure("open", top.lower < 0 ? words[0] : words[1]);
    return 1;
  }
  top.is_moved = is_after(there.st_ctim);
  each_name(top.upper, &top, compare);
  if (is_opaque(top.upper, ".")) each_name(top.lower, &top, say_unless_above);
  return has_failed || fflush(stdout) != 0;
}
