/*
 * Lines for the user, from inside somebody else's process.
 *
 * The idea: descriptor 2 is recognised by what fstat says of it, and each write is guarded three times. poll says
 * whether a pipe takes a chunk before write can block on it (a chunk is PIPE_BUF: what poll promises room for). The
 * thread's mask keeps SIGPIPE and SIGXFSZ away, and the one that our own write raised is taken back afterwards. Every
 * loop ends: waiting is bounded by a clock and, since a sandbox may refuse the clock, by a count.
 *
 * The price: some six system calls per line. Dropped: O_NONBLOCK on descriptor 2 (the flag belongs to the open file,
 * which other processes share), and a second descriptor from /proc/self/fd/2 (another thread's open could get the
 * number it expects not to). What remains: a terminal with a few bytes of room whose other end has stopped reading
 * makes write wait, as it would make the program's own.
 */
#define _GNU_SOURCE
#include "message.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os.h"

enum {
    CHUNK = PIPE_BUF,
    STALL_MS = 1000,  // waited in all for one message_write
    WAITS = 1000,     // the same, for a process whose clock stands still
    PAUSE_MS = 10,    // between two tries on a descriptor that poll calls ready and write does not
    NUMBER_MAX = 24,  // characters of the longest number
    ESCAPE_BYTES = 4, // \xNN
};

static const char prefix[] = "poolmark: ";
static const char cut_mark[] = "...";

/* Text that grows in a buffer and is cut at its end. */
struct text {
    char *buffer;
    size_t size, length;
};

/* What the program's signals were before our write, and whether its thread could be cancelled. */
struct quiet {
    sigset_t mask, pending;
    int cancel;
};

/* What is left of the patience with a slow reader. */
struct patience {
    uint64_t waited; // ns
    unsigned waits;
};

static struct {
    bool known; // fixed after message_start
    dev_t dev, rdev;
    ino_t ino;
    mode_t type;
} original;

static atomic_bool deaf; // any thread: a line did not arrive; the next ones do not wait a second each

/* ---- text ---- */

static void text_end(struct text *text)
{
    if (text->size)
        text->buffer[text->length] = '\0';
}

static void text_char(struct text *text, char c)
{
    if (text->length + 1 < text->size)
        text->buffer[text->length++] = c;
}

static void text_string(struct text *text, const char *string)
{
    for (string = string ? string : "(null)"; *string; string++)
        text_char(text, *string);
}

static void text_number(struct text *text, uint64_t number, unsigned base)
{
    char digits[NUMBER_MAX];
    unsigned count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    while (count)
        text_char(text, digits[--count]);
}

static void text_signed(struct text *text, int64_t number)
{
    if (number < 0)
        text_char(text, '-');
    text_number(text, number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
}

/* The part of a conversion after % and its l or z; false if there is no such conversion. */
static bool text_convert(struct text *text, char conversion, bool wide, va_list *arguments)
{
    switch (conversion) {
    case 's':
        text_string(text, va_arg(*arguments, const char *));
        return true;
    case 'c':
        text_char(text, (char)va_arg(*arguments, int));
        return true;
    case 'p':
        text_string(text, "0x");
        text_number(text, (uintptr_t)va_arg(*arguments, void *), 16);
        return true;
    case 'd':
        text_signed(text, wide ? va_arg(*arguments, long) : va_arg(*arguments, int));
        return true;
    case 'u':
    case 'x':
        text_number(text, wide ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned),
                    conversion == 'x' ? 16 : 10);
        return true;
    case '%':
        text_char(text, '%');
        return true;
    default:
        return false;
    }
}

static size_t format_list(char *buffer, size_t size, const char *format, va_list *arguments)
{
    struct text text = {buffer, size, 0};
    while (*format) {
        if (*format != '%') {
            text_char(&text, *format++);
            continue;
        }
        bool wide = false;
        for (format++; *format == 'l' || *format == 'z'; format++)
            wide = true;
        // what follows an unknown conversion cannot be read: its argument has an unknown size
        if (!text_convert(&text, *format, wide, arguments)) {
            assert(!"a conversion that message_format does not know");
            break;
        }
        format++;
    }
    text_end(&text);
    return text.length;
}

/* Bytes of the character at `at` that a terminal can show as it is; 0 for controls (C1 too) and broken UTF-8. */
static size_t printable_bytes(const unsigned char *at, size_t left)
{
    if (at[0] < 0x80)
        return at[0] >= ' ' && at[0] != 0x7f;
    size_t bytes = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (bytes > left || at[0] < 0xc2 || at[0] > 0xf4 || (at[0] == 0xc2 && at[1] < 0xa0))
        return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))
        return 0; // overlong, half of a surrogate pair
    if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0; // overlong, above U+10FFFF
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80) // the NUL at the end of the text is no continuation either
            return 0;
    }
    return bytes;
}

/* ---- writing ---- */

/* Keeps the signals of a failing write from the program. False if that is refused: then nothing may be written. */
static bool quiet_begin(struct quiet *ret)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigaddset(&ours, SIGTTOU); // blocked, it is not even raised: a background program is not stopped by our line
    sigemptyset(&ret->pending);
    sigpending(&ret->pending);
    if (pthread_sigmask(SIG_BLOCK, &ours, &ret->mask) != 0)
        return false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ret->cancel); // poll and write are cancellation points
    return true;
}

/* Takes back the signal that our write has raised, unless one was waiting before, then restores the mask. */
static void quiet_end(struct quiet *quiet, int error)
{
    int raised = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (raised && !sigismember(&quiet->pending, raised)) {
        const struct timespec now = {0, 0};
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, raised);
        if (sigtimedwait(&set, NULL, &now) < 0 && errno != EAGAIN)
            sigaddset(&quiet->mask, raised); // a sandbox refuses it: better blocked for good than deadly
    }
    pthread_sigmask(SIG_SETMASK, &quiet->mask, NULL);
    pthread_setcancelstate(quiet->cancel, NULL);
}

/* Waits until `fd` takes bytes. False if nobody reads any more or the patience is used up. */
static bool wait_ready(int fd, struct patience *patience)
{
    while (patience->waits++ < WAITS && patience->waited < STALL_MS * UINT64_C(1000000)) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
        int left = STALL_MS - (int)(patience->waited / 1000000);
        uint64_t start = os_clock();
        int ready = poll(&poll_fd, 1, left);
        patience->waited += os_clock() - start;
        if (ready > 0)
            return !(poll_fd.revents & (POLLERR | POLLHUP | POLLNVAL));
        if (ready == 0)
            return false;
        if (errno != EINTR)
            return true; // poll itself is refused: write decides
    }
    return false;
}

/* Writes what it can; returns 0 or the error that ended it. */
static int write_all(int fd, const char *bytes, size_t count, bool may_block)
{
    struct patience patience = {0, 0};
    while (count) {
        if (may_block && !wait_ready(fd, &patience))
            return EAGAIN;
        ssize_t done = write(fd, bytes, may_block ? min_size(count, CHUNK) : count);
        if (done > 0) {
            bytes += done;
            count -= (size_t)done;
            patience.waits = 0;
        } else if (done == 0) {
            return EIO;
        } else if (errno == EAGAIN) {
            patience.waited += PAUSE_MS * UINT64_C(1000000);
            if (!may_block || poll(NULL, 0, PAUSE_MS) < 0)
                return EAGAIN;
        } else if (errno != EINTR || patience.waits++ >= WAITS) {
            return errno;
        }
    }
    return 0;
}

void message_start(void)
{
    int error = errno;
    struct stat stat;
    original.known = os_stat(STDERR_FILENO, &stat);
    if (original.known) {
        original.dev = stat.st_dev;
        original.rdev = stat.st_rdev;
        original.ino = stat.st_ino;
        original.type = stat.st_mode & S_IFMT;
    }
    errno = error;
}

bool message_stderr_is_original(void)
{
    int error = errno;
    struct stat stat;
    bool same = original.known && os_stat(STDERR_FILENO, &stat) && stat.st_dev == original.dev &&
                stat.st_ino == original.ino && stat.st_rdev == original.rdev &&
                (stat.st_mode & S_IFMT) == original.type;
    errno = error;
    return same;
}

bool message_write(int fd, const char *bytes, size_t count)
{
    int error = errno;
    int failure = EPERM;
    struct quiet quiet;
    if (quiet_begin(&quiet)) {
        struct stat stat;
        bool may_block = !os_stat(fd, &stat) || !S_ISREG(stat.st_mode);
        failure = write_all(fd, bytes, count, may_block);
        quiet_end(&quiet, failure);
    }
    errno = error;
    return failure == 0;
}

void message_line(const char *format, ...)
{
    char text[MESSAGE_LINE + 1];
    va_list arguments;
    va_start(arguments, format);
    size_t length = format_list(text, sizeof(text), format, &arguments);
    va_end(arguments);
    if (atomic_load_explicit(&deaf, memory_order_relaxed) || !message_stderr_is_original())
        return;

    char line[sizeof(prefix) + MESSAGE_LINE + 1];
    memcpy(line, prefix, sizeof(prefix) - 1);
    size_t used = sizeof(prefix) - 1;
    used += message_escape(line + used, MESSAGE_LINE + 1, text, length);
    line[used++] = '\n';
    if (!message_write(STDERR_FILENO, line, used))
        atomic_store_explicit(&deaf, true, memory_order_relaxed);
}

size_t message_format(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = format_list(buffer, size, format, &arguments);
    va_end(arguments);
    return length;
}

size_t message_escape(char *buffer, size_t size, const char *text, size_t length)
{
    struct text out = {buffer, size, 0};
    size_t room_for_mark = 0; // length of `out` up to which the mark of a cut still fits behind
    size_t at = 0;
    while (at < length && text[at]) {
        unsigned char escaped = (unsigned char)text[at];
        size_t bytes = printable_bytes((const unsigned char *)text + at, length - at);
        if (out.length + sizeof(cut_mark) <= size)
            room_for_mark = out.length;
        if (out.length + (bytes ? bytes : ESCAPE_BYTES) >= size)
            break;
        for (size_t i = 0; i < bytes; i++)
            text_char(&out, text[at + i]);
        if (!bytes) {
            text_string(&out, escaped < 16 ? "\\x0" : "\\x");
            text_number(&out, escaped, 16);
        }
        at += bytes ? bytes : 1;
    }
    if (at < length && text[at]) {
        out.length = room_for_mark;
        text_string(&out, cut_mark);
    }
    text_end(&out);
    return out.length;
}

void message_broken_heap(const char *fault, const void *block)
{
    atomic_store_explicit(&deaf, false, memory_order_relaxed); // the last line is worth a second
    message_line("broken heap: %s: %p", fault, block);
    abort();
}
