/* The first thing that went wrong, kept in words for whoever asked. */
#include "box.h"
#include <stdio.h>

char failure_text[512];

/* Says it once; what follows from the first failure adds nothing. Returns -1. */
int fail(const char *what, const char *object) {
  if (failure_text[0] == '\0') {
    const char *why = errno ? strerror(errno) : "refused";
    snprintf(failure_text, sizeof failure_text, "%s%s%s: %s", what, object ? " " : "", object ? object : "", why);
  }
  return -1;
}
