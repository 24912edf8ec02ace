/* Frames on a channel that may block neither side: what has come in, and what still has to go out. */
#ifndef FRAMES_H
#define FRAMES_H

#include "box.h"

struct bytes {
  char *at;
  size_t start, end, room;
};

struct stream {
  int fd;
  struct bytes in, out;
  bool is_broken;
};

struct frame {
  char type;
  uint32_t id;
  const char *payload;
  size_t size;
};

int open_stream(struct stream *stream, int fd);
/* Reads what has come; false when the other side is gone or makes no sense. */
bool fill(struct stream *stream);
/* The next whole frame; it stays valid until the next `fill`. */
bool take_frame(struct stream *stream, struct frame *frame);
void send_frame(struct stream *stream, char type, uint32_t id, const void *payload, size_t size);
/* Reads one part from a descriptor straight into a frame; what `read` returned. */
ssize_t send_from(struct stream *stream, char type, uint32_t id, int fd);
/* Writes what the other side takes now; false when it is gone. */
bool flush(struct stream *stream);
size_t waiting(const struct stream *stream);

#endif
