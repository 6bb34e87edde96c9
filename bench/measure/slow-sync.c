/* Preloaded into a measured program: every fsync takes as long as on a bad day of a cloud's disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static void wait_20_ms(void) {
  struct timespec time = {0, 20 * 1000 * 1000};
  nanosleep(&time, 0);
}

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_20_ms();
  return real(file);
}

int fdatasync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_20_ms();
  return real(file);
}
