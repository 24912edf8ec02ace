/*
 * Rights, owners and times of files, which Landlock does not know of: without a root of its own a command could change
 * them all over the user's files. So the filter hands these calls to the watcher of the command, which looks up the
 * file, and does what was asked only below the folders that are writable. What the caller has in its memory is read
 * once, and the file is held by a descriptor from then on: nothing can be exchanged in between.
 */
#include "box.h"
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define LONGEST_PATH 4096
#define RIGHTS_OF_OTHERS (S_ISUID | S_ISGID)

struct asked {
  int listener;
  struct seccomp_notif *call;
};

/* What the call is about: a file below a folder, or the folder's descriptor itself. */
struct target {
  int folder;
  bool is_descriptor, follows;
  uint64_t path;
};

static bool read_memory(pid_t pid, uint64_t from, void *to, size_t size) {
  struct iovec ours = {to, size}, theirs = {(void *)(uintptr_t)from, size};
  return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)size;
}

/* Up to its NUL, page by page: what comes after the text may not be there. */
static bool read_text(pid_t pid, uint64_t from, char *text) {
  for (size_t at = 0; at < LONGEST_PATH;) {
    size_t part = 4096 - (from + at) % 4096;
    if (part > LONGEST_PATH - at) part = LONGEST_PATH - at;
    if (!read_memory(pid, from + at, text + at, part)) return false;
    if (memchr(text + at, '\0', part)) return true;
    at += part;
  }
  return false;
}

/* Its name as it would be for the caller; "self" is the caller too. */
static int name_target(pid_t pid, const struct target *target, char *name, size_t room) {
  static const char *const selves[] = {"/proc/self/", "/proc/thread-self/"};
  char path[LONGEST_PATH] = "";
  if (!target->is_descriptor && !read_text(pid, target->path, path)) return -EFAULT;
  if (!target->is_descriptor && !*path) return -ENOENT;
  for (size_t i = 0; i < 2; i++)
    if (strncmp(path, selves[i], strlen(selves[i])) == 0)
      return snprintf(name, room, "/proc/%d/%s", pid, path + strlen(selves[i]));
  if (*path == '/') return snprintf(name, room, "%s", path);
  const char *slash = target->is_descriptor ? "" : "/";
  if (target->folder == AT_FDCWD) return snprintf(name, room, "/proc/%d/cwd%s%s", pid, slash, path);
  return snprintf(name, room, "/proc/%d/fd/%d%s%s", pid, target->folder, slash, path);
}

static bool is_below(const char *path, const char *folder) {
  size_t size = strlen(folder);
  return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

/* By the path the kernel has for what is open. */
static bool is_writable(int object, struct words words) {
  char link[32], path[LONGEST_PATH];
  snprintf(link, sizeof link, "/proc/self/fd/%d", object);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size <= 0) return false;
  path[size] = '\0';
  for (const char *word; (word = next_word(&words));) {
    const char *folder = next_word(&words);
    bool has_two = strcmp(word, "ro") == 0 || strcmp(word, "rw") == 0 || strcmp(word, "link") == 0 || strcmp(word, "limit") == 0;
    if (has_two) next_word(&words);
    if (folder && strcmp(word, "rw") == 0 && is_below(path, folder)) return true;
  }
  return false;
}

/* A descriptor of it; or why there is none, as a negative number. */
static int open_target(const struct asked *asked, const struct target *target, const struct policy *policy) {
  char name[LONGEST_PATH + 64];
  int size = name_target(asked->call->pid, target, name, sizeof name);
  if (size < 0) return size;
  bool follows = target->follows || target->is_descriptor;
  int object = open(name, O_PATH | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
  if (object < 0) return errno == ENOENT && target->is_descriptor ? -EBADF : -errno;
  /* Were the caller gone, its number could be another's by now. */
  bool is_there = ioctl(asked->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked->call->id) == 0;
  if (is_there && is_writable(object, policy->rules)) return object;
  close(object);
  return -EPERM;
}

static int change_mode(int object, mode_t mode) {
  char link[32];
  if (mode & RIGHTS_OF_OTHERS) return -EPERM;
  snprintf(link, sizeof link, "/proc/self/fd/%d", object);
  return chmod(link, mode & 07777) < 0 ? -errno : 0;
}

static int change_owner(int object, uid_t user, gid_t group) {
  return fchownat(object, "", user, group, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

/* How the two times are written, where they are not "now". */
enum times { SECONDS, MICROSECONDS, NANOSECONDS };

static bool read_times(pid_t pid, uint64_t from, enum times how, struct timespec times[2]) {
  long words[4];
  size_t size = how == SECONDS ? sizeof(long[2]) : sizeof words;
  if (!read_memory(pid, from, words, size)) return false;
  for (int i = 0; i < 2; i++) {
    if (how == SECONDS) times[i] = (struct timespec){words[i], 0};
    else times[i] = (struct timespec){words[2 * i], words[2 * i + 1] * (how == MICROSECONDS ? 1000 : 1)};
  }
  return true;
}

static int change_times(const struct asked *asked, int object, uint64_t from, enum times how) {
  struct timespec times[2];
  if (from && !read_times(asked->call->pid, from, how, times)) return -EFAULT;
  int result = syscall(SYS_utimensat, object, "", from ? times : NULL, AT_EMPTY_PATH);
  return result < 0 ? -errno : 0;
}

static struct target descriptor(uint64_t fd) { return (struct target){.folder = (int)fd, .is_descriptor = true}; }

static struct target path(uint64_t at) { return (struct target){.folder = AT_FDCWD, .path = at, .follows = true}; }

/* Of the calls that take a folder, a path and flags; an empty path may mean the folder itself. */
static struct target below(const struct asked *asked, uint64_t at, int flags) {
  int folder = (int)asked->call->data.args[0];
  char first = 'x';
  if (!at) return descriptor(folder);
  if (flags & AT_EMPTY_PATH) read_memory(asked->call->pid, at, &first, 1);
  if (!first) return descriptor(folder);
  return (struct target){.folder = folder, .path = at, .follows = !(flags & AT_SYMLINK_NOFOLLOW)};
}

static struct target target_of(const struct asked *asked) {
  const __u64 *args = asked->call->data.args;
  switch (asked->call->data.nr) {
    case SYS_fchmod:
    case SYS_fchown: return descriptor(args[0]);
    case SYS_fchmodat: return below(asked, args[1], 0);
    case SYS_fchownat: return below(asked, args[1], args[4]);
    case SYS_utimensat: return below(asked, args[1], args[3]);
#ifdef __x86_64__
    case SYS_futimesat: return below(asked, args[1], 0);
    case SYS_lchown: return (struct target){.folder = AT_FDCWD, .path = args[0]};
#endif
    default: return path(args[0]);
  }
}

static int change(const struct asked *asked, int object) {
  const __u64 *args = asked->call->data.args;
  switch (asked->call->data.nr) {
    case SYS_fchmod: return change_mode(object, args[1]);
    case SYS_fchmodat: return change_mode(object, args[2]);
    case SYS_fchown: return change_owner(object, args[1], args[2]);
    case SYS_fchownat: return change_owner(object, args[2], args[3]);
    case SYS_utimensat: return change_times(asked, object, args[2], NANOSECONDS);
#ifdef __x86_64__
    case SYS_chmod: return change_mode(object, args[1]);
    case SYS_chown:
    case SYS_lchown: return change_owner(object, args[1], args[2]);
    case SYS_utime: return change_times(asked, object, args[1], SECONDS);
    case SYS_utimes: return change_times(asked, object, args[1], MICROSECONDS);
    case SYS_futimesat: return change_times(asked, object, args[2], MICROSECONDS);
#endif
    default: return -ENOSYS;
  }
}

/* One call that waits at the listener. */
void answer_call(int listener, const struct policy *policy) {
  /* The kernel's may be longer than those of the headers. */
  static union {
    struct seccomp_notif call;
    char room[512];
  } in;
  static union {
    struct seccomp_notif_resp answer;
    char room[512];
  } out;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0) return;
  struct asked asked = {listener, &in.call};
  struct target target = target_of(&asked);
  int object = open_target(&asked, &target, policy);
  out.answer.id = in.call.id;
  out.answer.error = object < 0 ? object : change(&asked, object);
  if (object >= 0) close(object);
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
}

/* The listener goes from the process that will be the command to the one that watches over it. */
int pass_listener(int line, int listener) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } more = {0};
  struct iovec mark = {"", 1};
  struct msghdr message = {.msg_iov = &mark, .msg_iovlen = 1, .msg_control = &more, .msg_controllen = sizeof more};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
  memcpy(CMSG_DATA(header), &listener, sizeof listener);
  ssize_t sent = sendmsg(line, &message, MSG_NOSIGNAL);
  close(listener);
  return sent < 0 ? fail("pass", "the listener") : 0;
}

/* -1 where none comes: why is told with the command's start. */
int take_listener(int line) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } more = {0};
  char mark;
  struct iovec part = {&mark, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &more, .msg_controllen = sizeof more};
  int listener = -1;
  if (recvmsg(line, &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS) memcpy(&listener, CMSG_DATA(header), sizeof listener);
  return listener;
}
