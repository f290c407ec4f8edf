/*
 * The page at one moment, for a dump: a copy that no thread writes any more.
 */
#ifndef POOLMARK_FREEZE_H
#define POOLMARK_FREEZE_H

#include "counters.h"

/*
 * The page itself in a process that never had a second thread. Else copies it, each class's events summed into one shard. Threads may be at work meanwhile: where counts that were
 * read one after the other contradict each other (a block counted as freed whose allocation was not yet seen), the few
 * events in flight are taken out, and `unsettled` says that some may be missing. One at a time (end.h); the copy holds
 * until the next call.
 */
HIDDEN const struct page *page_freeze(void);

#endif
