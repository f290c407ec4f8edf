/*
 * Lines on stderr: what they look like, and into which descriptors they go. (test_message_write.c: how they get there.)
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/message.h"
#include "pipes.h"

/* Makes fd 2 the writing end of a pipe, and that the stderr of the start. Returns the reading end. */
static int stderr_pipe(void)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    message_start();
    return ends[0];
}

Test(format, conversions)
{
    char text[200];
    size_t length = message_format(text, sizeof(text), "%s|%c|%d|%u|%x|%ld|%lu|%lx|%zu|%zd|%%", "word", 'c', -12, 34u,
                                   0xabcu, -5L, 6UL, 0xdefUL, (size_t)7, (ssize_t)-8);
    cr_assert_str_eq(text, "word|c|-12|34|abc|-5|6|def|7|-8|%");
    cr_assert_eq(length, strlen(text));
}

Test(format, extremes)
{
    char text[200];
    message_format(text, sizeof(text), "%d %ld %lu %p", INT32_MIN, INT64_MIN, UINT64_MAX, (void *)0x7fffdeadbeef);
    cr_assert_str_eq(text, "-2147483648 -9223372036854775808 18446744073709551615 0x7fffdeadbeef");
    const char *volatile nothing = NULL;
    message_format(text, sizeof(text), "%s %p", nothing, (void *)0);
    cr_assert_str_eq(text, "(null) 0x0");
}

Test(format, is_cut_and_terminated)
{
    char text[8] = "#######";
    cr_assert_eq(message_format(text, 5, "%s", "abcdefgh"), 4);
    cr_assert_str_eq(text, "abcd");
    cr_assert_eq(text[5], '#');
    cr_assert_eq(message_format(text, 1, "abc"), 0);
    cr_assert_str_eq(text, "");
    cr_assert_eq(message_format(NULL, 0, "abc"), 0);
}

Test(escape, shows_only_what_a_terminal_may_see)
{
    static const char *const pairs[][2] = {
        {"plain", "plain"},
        {"a\nb\tc\033[2J", "a\\x0ab\\x09c\\x1b[2J"},
        {"del\177", "del\\x7f"},
        {"J\303\274rgen \342\202\254 \360\237\220\247", "J\303\274rgen \342\202\254 \360\237\220\247"},
        {"\233K", "\\x9bK"},                          // C1 as one byte
        {"\302\233K", "\\xc2\\x9bK"},                 // C1 in UTF-8
        {"\300\257", "\\xc0\\xaf"},                   // overlong
        {"\355\240\200", "\\xed\\xa0\\x80"},          // half of a surrogate pair
        {"\364\220\200\200", "\\xf4\\x90\\x80\\x80"}, // above U+10FFFF
        {"\303", "\\xc3"},                            // ends within a character
        {"\\", "\\"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++) {
        char text[100];
        size_t length = message_escape(text, sizeof(text), pairs[i][0], SIZE_MAX);
        cr_assert_str_eq(text, pairs[i][1]);
        cr_assert_eq(length, strlen(text));
    }
}

Test(escape, marks_a_cut)
{
    char text[11];
    message_escape(text, sizeof(text), "0123456789", SIZE_MAX);
    cr_assert_str_eq(text, "0123456789");
    message_escape(text, sizeof(text), "0123456789a", SIZE_MAX);
    cr_assert_str_eq(text, "0123456...");
    message_escape(text, sizeof(text), "12345\n789", SIZE_MAX);
    cr_assert_str_eq(text, "12345...");
    message_escape(text, sizeof(text), "0123456789", 4);
    cr_assert_str_eq(text, "0123");
    message_escape(text, 3, "0123456789", SIZE_MAX);
    cr_assert_str_eq(text, "..");
}

Test(line, has_a_prefix_and_a_newline)
{
    int fd = stderr_pipe();
    errno = 1234;
    message_line("%s at %d", "fault", 7);
    cr_assert_eq(errno, 1234);
    cr_assert_str_eq(text_of(fd), "poolmark: fault at 7\n");
}

Test(line, is_one_line_whatever_the_user_says)
{
    int fd = stderr_pipe();
    message_line("bad `%s`", "a\nb\r\033]0;title\007");
    cr_assert_str_eq(text_of(fd), "poolmark: bad `a\\x0ab\\x0d\\x1b]0;title\\x07`\n");
}

Test(line, is_cut)
{
    int fd = stderr_pipe();
    static char text[100001];
    memset(text, 'x', sizeof(text) - 1);
    message_line("%s", text);
    const char *line = text_of(fd);
    cr_assert_eq(strlen(line), strlen("poolmark: \n") + MESSAGE_LINE);
    cr_assert_eq(line[strlen(line) - 1], '\n');
}

Test(line, nothing_before_start)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    message_line("too early");
    cr_assert_str_eq(text_of(ends[0]), "");
}

Test(line, not_into_another_file_than_at_the_start)
{
    int first = stderr_pipe();
    int data = memfd_create("data", 0);
    dup2(data, STDERR_FILENO);
    cr_assert_not(message_stderr_is_original());
    message_line("stray");
    struct stat stat;
    cr_assert_eq(fstat(data, &stat), 0);
    cr_assert_eq(stat.st_size, 0);
    cr_assert_str_eq(text_of(first), "");
}

Test(line, not_into_a_descriptor_that_was_closed_at_the_start)
{
    close(STDERR_FILENO);
    errno = 0;
    message_start();
    cr_assert_eq(errno, 0);
    int data = memfd_create("data", 0);
    dup2(data, STDERR_FILENO);
    message_line("stray");
    struct stat stat;
    cr_assert_eq(fstat(data, &stat), 0);
    cr_assert_eq(stat.st_size, 0);
}

Test(line, again_when_the_original_comes_back)
{
    int first = stderr_pipe();
    int saved = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    message_line("lost");
    dup2(saved, STDERR_FILENO);
    message_line("back");
    cr_assert_str_eq(text_of(first), "poolmark: back\n");
}

Test(line, many_lines_into_a_full_pipe_cost_one_wait)
{
    stderr_pipe();
    fill(STDERR_FILENO);
    double start = seconds();
    for (int i = 0; i < 20; i++)
        message_line("line %d", i);
    cr_assert_leq(seconds() - start, 3.0);
}

Test(broken_heap, aborts, .signal = SIGABRT)
{
    message_broken_heap("free of a block that is free", (void *)0x1230);
}

Test(broken_heap, names_address_and_fault)
{
    int fd = stderr_pipe();
    pid_t child = fork();
    if (child == 0)
        message_broken_heap("free of a block that is free", (void *)0x1230);
    fcntl(fd, F_SETFL, 0);
    char text[200] = {0};
    cr_assert_gt(read(fd, text, sizeof(text) - 1), 0);
    cr_assert_str_eq(text, "poolmark: broken heap: free of a block that is free: 0x1230\n");
}
