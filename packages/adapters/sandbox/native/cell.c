/* Cells, from the agent's side: made ahead of the command, started by it, ended with all it started. */
#include "box.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_end(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

uint64_t oom_count(const struct policy *policy) {
  char text[512];
  ssize_t size = policy->oom_fd < 0 ? 0 : pread(policy->oom_fd, text, sizeof text - 1, 0);
  text[size > 0 ? size : 0] = '\0';
  const char *found = strstr(text, "oom_kill ");
  return found ? strtoull(found + strlen("oom_kill "), NULL, 10) : 0;
}

/* Three pipes, real ones so that /dev/stderr and its like can be opened, and the line to the cell's pid 1. */
static int open_ends(struct cell *cell, struct ends *theirs) {
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, line[2] = {-1, -1};
  bool is_open = pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0 &&
                 socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) == 0;
  *theirs = (struct ends){.in = in[0], .out = out[1], .err = err[1], .control = line[1]};
  cell->in = in[1];
  cell->out = out[0];
  cell->err = err[0];
  cell->control = line[0];
  if (!is_open) return fail("make", "pipes");
  for (int i = 0; i < 3; i++) {
    int ours = (int[]){cell->in, cell->out, cell->err}[i];
    /* Of our end only: the command's own reads and writes go on blocking. */
    if (fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK) < 0) return fail("prepare", "pipes");
  }
  return 0;
}

/* All that can be done before the command is known. NULL when it failed, and failure_text says why. */
struct cell *make_cell(const struct policy *policy) {
  struct cell *cell = calloc(1, sizeof *cell);
  if (!cell) {
    fail("make", "a cell");
    return NULL;
  }
  struct ends theirs = {-1, -1, -1, -1};
  cell->control = cell->out = cell->err = cell->in = -1;
  cell->request = mmap(NULL, LONGEST_FRAME, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (cell->request == MAP_FAILED) cell->request = NULL;
  bool is_made = cell->request ? open_ends(cell, &theirs) == 0 : fail("make", "a request") == 0;
  if (is_made) {
    int spaces = policy->is_reduced ? 0 : CLONE_NEWPID | CLONE_NEWNS;
    cell->init = syscall(SYS_clone, spaces | SIGCHLD, 0, 0, 0, 0);
    if (cell->init == 0) run_init(policy, theirs, cell->request);
    if (cell->init < 0) is_made = fail("make", "a process") == 0;
  }
  close_end(&theirs.in);
  close_end(&theirs.out);
  close_end(&theirs.err);
  close_end(&theirs.control);
  if (is_made) return cell;
  free_cell(cell);
  return NULL;
}

/* Hands the request over; what becomes of it is told by reports. */
int start_cell(struct cell *cell, const char *request, size_t size) {
  memcpy(cell->request, request, size);
  cell->request_size = size;
  struct {
    char kind;
    uint32_t size;
  } go = {'G', size};
  return send(cell->control, &go, sizeof go, MSG_NOSIGNAL) < 0 ? fail("start", "the cell") : 0;
}

void signal_cell(const struct cell *cell, int number) {
  struct {
    char kind;
    uint32_t number;
  } order = {'K', number};
  /* One that cannot take orders is ended the hard way; nothing in it survives its pid 1. */
  if (send(cell->control, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && number == SIGKILL)
    kill(cell->init, SIGKILL);
}

/* A pid 1 takes its whole namespace along; another has to end what it watches over itself, when its line breaks. */
void end_cell(struct cell *cell, const struct policy *policy) {
  if (policy->is_reduced) close_end(&cell->control);
  else kill(cell->init, SIGKILL);
}

void free_cell(struct cell *cell) {
  close_end(&cell->control);
  close_end(&cell->out);
  close_end(&cell->err);
  close_end(&cell->in);
  if (cell->request) munmap(cell->request, LONGEST_FRAME);
  free(cell->pending);
  free(cell);
}

bool ran_out_of_memory(const struct cell *cell, const struct policy *policy) {
  return oom_count(policy) > cell->oom_before;
}
