/* All that a process started, however it was left behind: what a pid namespace does where there is none. */
#include "box.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often everything is stopped before it is ended: who is stopped starts nothing more. */
#define ROUNDS 8

struct process {
  pid_t pid, parent;
  bool is_ours, is_over;
};

static bool look_up(struct process *process, pid_t pid) {
  char path[32], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (size <= 0) return false;
  text[size] = '\0';
  /* The name in parentheses may hold anything. */
  const char *end = strrchr(text, ')');
  char state;
  *process = (struct process){.pid = pid};
  if (!end || sscanf(end + 1, " %c %d", &state, &process->parent) != 2) return false;
  process->is_over = state == 'Z' || state == 'X';
  return true;
}

static struct process *list_all(size_t *count) {
  struct process *all = NULL;
  size_t room = 0;
  DIR *folder = opendir("/proc");
  *count = 0;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    pid_t pid = atoi(entry->d_name);
    if (pid <= 0) continue;
    if (*count == room) {
      struct process *more = realloc(all, (room = room * 2 + 256) * sizeof *all);
      if (!more) break;
      all = more;
    }
    if (look_up(&all[*count], pid)) ++*count;
  }
  if (folder) closedir(folder);
  return all;
}

static bool is_one(const struct process *all, size_t count, pid_t pid) {
  for (size_t i = 0; i < count; i++)
    if (all[i].pid == pid) return all[i].is_ours;
  return false;
}

/* Who has lost a parent is ours by adoption: whoever asks is a subreaper. How many there were. */
static int signal_descendants(int number) {
  pid_t self = getpid();
  size_t count;
  struct process *all = list_all(&count);
  int signalled = 0;
  for (bool is_growing = true; is_growing;) {
    is_growing = false;
    for (size_t i = 0; i < count; i++) {
      if (all[i].is_ours || all[i].pid == self) continue;
      if (all[i].parent != self && !is_one(all, count, all[i].parent)) continue;
      all[i].is_ours = is_growing = true;
    }
  }
  for (size_t i = 0; i < count; i++)
    if (all[i].is_ours && !all[i].is_over && kill(all[i].pid, number) == 0) signalled++;
  free(all);
  return signalled;
}

/* Only the pid 1 of a namespace may speak to all: anybody else would speak to the user's own processes. */
void signal_all(int number) {
  if (getpid() == 1) kill(-1, number);
  else signal_descendants(number);
}

static void stop_all(void) {
  for (int round = 0, before = -1; round < ROUNDS; round++) {
    int now = signal_descendants(SIGSTOP);
    if (now == before) return;
    before = now;
  }
}

/* Until there is nothing to wait for. */
void end_all(void) {
  for (;;) {
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (ended < 0 && errno == ECHILD) return;
    if (getpid() != 1) stop_all();
    signal_all(SIGKILL);
    if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD) return;
  }
}
