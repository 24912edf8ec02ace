/*
 * Landlock on top of the namespaces: in the host's network namespace the abstract sockets of the host are in reach,
 * an X server's or a message bus's among them, and no other means keeps commands from them.
 */
#include "box.h"
#include <sys/syscall.h>
#include <unistd.h>

#define ABSTRACT_SOCKETS 1
/* The version of Landlock that knows scopes; Linux 6.12. */
#define WITH_SCOPES 6
#define ASK_VERSION 1

/* As the kernel's header has it since then. */
struct rules {
  uint64_t files, network, scopes;
};

/* Older kernels have nothing to offer here. Needs no_new_privs. */
int leave_host_sockets(const struct policy *policy) {
  if (!policy->host_network || syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION) < WITH_SCOPES) return 0;
  struct rules wanted = {.scopes = ABSTRACT_SOCKETS};
  int rules = syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0);
  if (rules < 0) return fail("make", "Landlock rules");
  int result = syscall(SYS_landlock_restrict_self, rules, 0);
  close(rules);
  return result < 0 ? fail("enter", "Landlock") : 0;
}
