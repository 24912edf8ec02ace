/*
 * lathe-box FD [MODE]: serves one box on an open descriptor.
 * lathe-box listen PATH [MODE]: a box for each who connects.
 * MODE: private (the default) or host-network.
 */
#include "box.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Nothing of this program may come to lie on 0, 1 and 2: a command's own ends go there. */
static int cover_standard_ends(void) {
  int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0) return -1;
  for (int fd = 0; fd < 3; fd++)
    if (nothing != fd && dup2(nothing, fd) < 0) return -1;
  if (nothing > 2) close(nothing);
  return 0;
}

/* When the parent ends without a word, so do we; it may have ended already. */
static void follow_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

static int serve_one(int channel, const char *mode) {
  follow_parent(getppid());
  int kept[] = {channel};
  if (cover_standard_ends() < 0) return 1;
  keep_only(kept, 1);
  return serve(channel, mode);
}

static bool is_ours(int channel) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(channel, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static int serve_many(const char *path, const char *mode) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (door < 0 || strlen(path) >= sizeof address.sun_path) return 1;
  strcpy(address.sun_path, path);
  mode_t usual = umask(0077);
  if (bind(door, (struct sockaddr *)&address, sizeof address) < 0 || listen(door, 64) < 0) return 1;
  umask(usual);
  /* Who started us waits for this line. */
  puts("listening");
  fflush(stdout);
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    int channel = accept4(door, NULL, NULL, SOCK_CLOEXEC);
    if (channel < 0) continue;
    pid_t server = getpid();
    if (is_ours(channel) && fork() == 0) {
      signal(SIGCHLD, SIG_DFL);
      follow_parent(server);
      _exit(serve_one(channel, mode));
    }
    close(channel);
  }
}

int main(int count, char **words) {
  bool is_server = count >= 3 && strcmp(words[1], "listen") == 0;
  const char *mode = count > 2 + is_server ? words[2 + is_server] : "private";
  if (is_server) {
    follow_parent(getppid());
    return serve_many(words[2], mode);
  }
  int channel = count >= 2 ? atoi(words[1]) : 0;
  if (channel < 3) {
    fputs("usage: lathe-box FD [MODE] | lathe-box listen PATH [MODE]\n", stderr);
    return 2;
  }
  return serve_one(channel, mode);
}
