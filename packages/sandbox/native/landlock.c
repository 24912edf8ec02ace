#include "box.h"
int landlock_rules(struct words words, struct policy *policy) {
  (void)words;
  (void)policy;
  errno = ENOSYS;
  return fail("reduced", NULL);
}
int landlock_enter(const struct policy *policy) {
  (void)policy;
  return 0;
}
