/*
 * A program of ours that reads what others write: it becomes one that can read below some paths and do nothing else.
 * A path that someone swaps for a link while the program walks leads to nothing that it may read.
 */
#include "box.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOT_CONFINED 125
/* Bytes of its own memory: a file without a line's end is read whole, however long it is. */
#define MOST_MEMORY (2ull << 30)

static int not_confined(void) {
  fprintf(stderr, "lathe-box: %s\n", failure_text);
  return NOT_CONFINED;
}

/* `words`: PATH... -- PROGRAM [ARG...]; the program and the system's libraries can be executed, nothing can be written. */
int confine_reads(char **words, int count) {
  int paths = 0;
  while (paths < count && strcmp(words[paths], "--") != 0) paths++;
  if (paths + 1 >= count) {
    fail("read", "what to run");
    return not_confined();
  }
  char **program = words + paths + 1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
    fail("refuse", "new privileges");
    return not_confined();
  }
  struct rlimit memory = {MOST_MEMORY, MOST_MEMORY};
  if (setrlimit(RLIMIT_DATA, &memory) < 0) {
    fail("limit", "memory");
    return not_confined();
  }
  if (hold_reads(words, paths, program[0]) < 0) return not_confined();
  /* New rights, new rules: the kernel forgets the parent's death when they change. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execv(program[0], program);
  fail("start", program[0]);
  return not_confined();
}
