/* Frames: four bytes of length, one of type, four of number (little-endian), and the payload. */
#include "frames.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define HEADER 9
/* What a buffer keeps when there is nothing in it: an idle box stays small. */
#define SMALL (16u << 10)

static void put32(char *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = value >> (8 * i);
}

static uint32_t get32(const char *at) {
  const unsigned char *bytes = (const unsigned char *)at;
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Room for that many bytes more, at `end`. Without memory the box cannot go on. */
static void make_room(struct bytes *bytes, size_t more) {
  if (bytes->start > 0) {
    memmove(bytes->at, bytes->at + bytes->start, bytes->end - bytes->start);
    bytes->end -= bytes->start;
    bytes->start = 0;
  }
  if (bytes->end + more <= bytes->room) return;
  size_t room = bytes->end + more;
  bytes->at = realloc(bytes->at, room);
  if (!bytes->at) _exit(1);
  bytes->room = room;
}

static void give_back(struct bytes *bytes) {
  if (bytes->start < bytes->end) return;
  bytes->start = bytes->end = 0;
  if (bytes->room <= SMALL) return;
  free(bytes->at);
  *bytes = (struct bytes){0};
}

int open_stream(struct stream *stream, int fd) {
  *stream = (struct stream){.fd = fd};
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : 0;
}

bool fill(struct stream *stream) {
  give_back(&stream->in);
  make_room(&stream->in, SMALL);
  ssize_t size = read(stream->fd, stream->in.at + stream->in.end, stream->in.room - stream->in.end);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  stream->in.end += size;
  return size > 0 && !stream->is_broken;
}

bool take_frame(struct stream *stream, struct frame *frame) {
  struct bytes *in = &stream->in;
  size_t there = in->end - in->start;
  if (there < HEADER) return false;
  const char *at = in->at + in->start;
  uint32_t size = get32(at);
  if (size < HEADER - 4 || size > LONGEST_FRAME) {
    stream->is_broken = true;
    return false;
  }
  if (there < size + 4) {
    make_room(in, size + 4 - there);
    return false;
  }
  *frame = (struct frame){.type = at[4], .id = get32(at + 5), .payload = at + HEADER, .size = size + 4 - HEADER};
  in->start += size + 4;
  return true;
}

static void put_header(char *at, char type, uint32_t id, size_t size) {
  put32(at, size + HEADER - 4);
  at[4] = type;
  put32(at + 5, id);
}

void send_frame(struct stream *stream, char type, uint32_t id, const void *payload, size_t size) {
  make_room(&stream->out, HEADER + size);
  char *at = stream->out.at + stream->out.end;
  put_header(at, type, id, size);
  if (size > 0) memcpy(at + HEADER, payload, size);
  stream->out.end += HEADER + size;
}

ssize_t send_from(struct stream *stream, char type, uint32_t id, int fd) {
  make_room(&stream->out, HEADER + CHUNK);
  char *at = stream->out.at + stream->out.end;
  ssize_t size = read(fd, at + HEADER, CHUNK);
  if (size <= 0) return size;
  put_header(at, type, id, size);
  stream->out.end += HEADER + size;
  return size;
}

bool flush(struct stream *stream) {
  struct bytes *out = &stream->out;
  while (out->start < out->end) {
    ssize_t size = write(stream->fd, out->at + out->start, out->end - out->start);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN;
    out->start += size;
  }
  give_back(out);
  return true;
}

size_t waiting(const struct stream *stream) { return stream->out.end - stream->out.start; }
