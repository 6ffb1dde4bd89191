#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <sched.h>

int multipeer_leave_network(void) {
#ifdef CLONE_NEWNET
    return unshare(CLONE_NEWNET);
#else
    errno = ENOSYS;
    return -1;
#endif
}
