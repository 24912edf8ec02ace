/*
 * The system calls that commands do not get, as a seccomp program. What is refused is either a way out (mounts,
 * namespaces, keys, handles), a part of the kernel that programs do without and attackers like, or a way to leave
 * something behind that gives rights on the host (setuid files). Everything else is allowed: tools must work.
 */
#include "box.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "this architecture has no filter yet"
#endif

/* Calls newer than the headers have one number on all architectures. */
#define NR_OPEN_TREE 428
#define NR_CLONE3 435
#define NR_OPENAT2 437
#define NR_MOUNT_SETATTR 442
#define NR_QUOTACTL_FD 443
#define NR_FCHMODAT2 452
#define NR_OPEN_TREE_ATTR 467

#define NAMESPACES \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define NEW_TIME 0x80
#define SPECIAL_BITS (S_ISUID | S_ISGID)
#define SET_LINE_DISCIPLINE 0x5423
#define LINUX_CONSOLE 0x541C
#define MOST_STEPS 512

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The low half: both architectures are little-endian, and the kernel looks at no more of these arguments. */
#define LOAD_ARG(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (n))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
#define JUMP(test, value, then, otherwise) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, then, otherwise)
#define UNLESS(value, skip) JUMP(BPF_JEQ, value, 0, skip)
#define IF(value, skip) JUMP(BPF_JEQ, value, skip, 0)

struct rule {
  uint16_t number;
  enum { ALWAYS, BITS, MAKING, IOCTL, SOCKET } when;
  uint16_t error;
  /* The argument that is looked at, and the bits it may not have. */
  uint8_t argument;
  uint32_t bits;
};

#define NEVER(number, error) {number, ALWAYS, error, 0, 0}
#define NOT_WITH(number, argument, bits) {number, BITS, EPERM, argument, bits}

static struct rule rules[] = {
    /* Their arguments lie in memory, where they cannot be judged; programs fall back on older calls. */
    NEVER(NR_CLONE3, ENOSYS), NEVER(NR_OPENAT2, ENOSYS),
    /* Namespaces and mounts. */
    NOT_WITH(SYS_clone, 0, NAMESPACES), NOT_WITH(SYS_unshare, 0, NAMESPACES | NEW_TIME), NEVER(SYS_setns, EPERM),
    NEVER(SYS_mount, EPERM), NEVER(SYS_umount2, EPERM), NEVER(SYS_pivot_root, EPERM), NEVER(SYS_chroot, EPERM),
    NEVER(NR_OPEN_TREE, EPERM), NEVER(SYS_move_mount, EPERM), NEVER(SYS_fsopen, EPERM), NEVER(SYS_fsconfig, EPERM),
    NEVER(SYS_fsmount, EPERM), NEVER(SYS_fspick, EPERM), NEVER(NR_MOUNT_SETATTR, EPERM), NEVER(NR_OPEN_TREE_ATTR, EPERM),
    NEVER(SYS_swapon, EPERM), NEVER(SYS_swapoff, EPERM), NEVER(SYS_quotactl, EPERM), NEVER(NR_QUOTACTL_FD, EPERM),
    NEVER(SYS_open_by_handle_at, EPERM), NEVER(SYS_name_to_handle_at, EPERM),
    /* Parts of the kernel that have let programs out before. */
    NEVER(SYS_keyctl, ENOSYS), NEVER(SYS_add_key, ENOSYS), NEVER(SYS_request_key, ENOSYS), NEVER(SYS_bpf, EPERM),
    NEVER(SYS_perf_event_open, EPERM), NEVER(SYS_userfaultfd, ENOSYS), NEVER(SYS_io_uring_setup, ENOSYS),
    NEVER(SYS_io_uring_enter, ENOSYS), NEVER(SYS_io_uring_register, ENOSYS),
    /* The machine itself. */
    NEVER(SYS_kexec_load, EPERM), NEVER(SYS_kexec_file_load, EPERM), NEVER(SYS_init_module, EPERM),
    NEVER(SYS_finit_module, EPERM), NEVER(SYS_delete_module, EPERM), NEVER(SYS_reboot, EPERM), NEVER(SYS_acct, EPERM),
    NEVER(SYS_syslog, EPERM), NEVER(SYS_settimeofday, EPERM), NEVER(SYS_clock_settime, EPERM),
    NEVER(SYS_sethostname, EPERM), NEVER(SYS_setdomainname, EPERM), NEVER(SYS_vhangup, EPERM),
#ifdef __x86_64__
    NEVER(SYS_iopl, EPERM), NEVER(SYS_ioperm, EPERM), NEVER(SYS_modify_ldt, EPERM), NEVER(SYS_uselib, EPERM),
    NOT_WITH(SYS_chmod, 1, SPECIAL_BITS), NOT_WITH(SYS_creat, 1, SPECIAL_BITS), NOT_WITH(SYS_mknod, 1, SPECIAL_BITS),
    {SYS_open, MAKING, EPERM, 1, SPECIAL_BITS},
#endif
    /* Programs that run with their owner's rights. */
    NOT_WITH(SYS_fchmod, 1, SPECIAL_BITS), NOT_WITH(SYS_fchmodat, 2, SPECIAL_BITS),
    NOT_WITH(NR_FCHMODAT2, 2, SPECIAL_BITS), NOT_WITH(SYS_mknodat, 2, SPECIAL_BITS),
    {SYS_openat, MAKING, EPERM, 2, SPECIAL_BITS},
    {SYS_ioctl, IOCTL, EPERM, 1, 0}, {SYS_socket, SOCKET, EAFNOSUPPORT, 0, 0},
    {SYS_socketpair, SOCKET, EAFNOSUPPORT, 0, 0}};

static struct sock_filter program[MOST_STEPS];
static unsigned steps;

static void add(const struct sock_filter *more, unsigned count) {
  for (unsigned i = 0; i < count && steps < MOST_STEPS; i++) program[steps++] = more[i];
}
#define ADD(...) \
  do { \
    const struct sock_filter more[] = {__VA_ARGS__}; \
    add(more, sizeof more / sizeof *more); \
  } while (0)

/* What decides once the number is known to be the rule's. */
static void add_decision(const struct rule *rule) {
  uint8_t argument = rule->argument;
  switch (rule->when) {
    case ALWAYS: ADD(REFUSE(rule->error)); break;
    case BITS: ADD(LOAD_ARG(argument), JUMP(BPF_JSET, rule->bits, 0, 1), REFUSE(rule->error), ALLOW); break;
    /* The mode counts only where a file is made; the argument after the flags. */
    case MAKING:
      ADD(LOAD_ARG(argument), JUMP(BPF_JSET, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 0, 3), LOAD_ARG(argument + 1),
          JUMP(BPF_JSET, rule->bits, 0, 1), REFUSE(rule->error), ALLOW);
      break;
    /* Typing into a terminal, and kernel modules loaded by a number. */
    case IOCTL:
      ADD(LOAD_ARG(argument), IF(TIOCSTI, 3), IF(LINUX_CONSOLE, 2), IF(SET_LINE_DISCIPLINE, 1), ALLOW,
          REFUSE(rule->error));
      break;
    /* Unix and internet sockets, and the netlink that lists one's own addresses. */
    case SOCKET:
      ADD(LOAD_ARG(0), IF(AF_UNIX, 5), IF(AF_INET, 4), IF(AF_INET6, 3), UNLESS(AF_NETLINK, 3), LOAD_ARG(2),
          UNLESS(0, 1), ALLOW, REFUSE(rule->error));
      break;
  }
}

/* A tree over the sorted numbers: few steps for each call, here and when the kernel looks over the program. */
static void add_rules(const struct rule *from, unsigned count) {
  unsigned at = steps;
  if (count > 2) {
    ADD(JUMP(BPF_JGE, from[count / 2].number, 0, 0));
    add_rules(from, count / 2);
    program[at].jt = steps - at - 1;
    add_rules(from + count / 2, count - count / 2);
    return;
  }
  for (unsigned i = 0; i < count; i++) {
    at = steps;
    ADD(UNLESS(from[i].number, 0));
    add_decision(&from[i]);
    program[at].jf = steps - at - 1;
  }
  ADD(ALLOW);
}

static int by_number(const void *a, const void *b) {
  return ((const struct rule *)a)->number - ((const struct rule *)b)->number;
}

/* Once per box; the program is the same for all commands. */
void build_filter(void) {
  unsigned count = sizeof rules / sizeof *rules;
  qsort(rules, count, sizeof *rules, by_number);
  steps = 0;
  ADD(LOAD(arch), IF(NATIVE, 1), REFUSE(ENOSYS), LOAD(nr));
#ifdef __x86_64__
  /* x32 shares the architecture's name. */
  ADD(JUMP(BPF_JGE, 0x40000000, 0, 1), REFUSE(ENOSYS));
#endif
  add_rules(rules, count);
}

int install_filter(void) {
  struct sock_fprog whole = {.len = steps, .filter = program};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) < 0 ? fail("install", "the seccomp filter") : 0;
}
