/*
 * Texts into a struct report_out.
 *
 * Names and arguments come from the program and may be any bytes; all that leaves here is valid UTF-8 (if it was cut
 * in the middle of a character, too), and on a terminal nothing of it acts.
 */
#include "print.h"

void print_flush(struct report_out *out)
{
    if (!out->flush)
        return;
    if (!out->failed && out->used && !out->flush(out))
        out->failed = true;
    out->used = 0;
}

void print_bytes(struct report_out *out, const char *bytes, size_t count)
{
    while (count && !out->failed) {
        size_t now = min_size(count, out->size - out->used);
        memcpy(out->buffer + out->used, bytes, now);
        out->used += now;
        bytes += now;
        count -= now;
        if (count && (!out->flush || !out->size))
            out->failed = true;
        if (count)
            print_flush(out);
    }
}

void print_text(struct report_out *out, const char *text)
{
    print_bytes(out, text, strlen(text));
}

void print_repeat(struct report_out *out, char c, unsigned count)
{
    while (count--)
        print_bytes(out, &c, 1);
}

void print_left(struct report_out *out, unsigned width, const char *text)
{
    size_t length = strlen(text);
    print_text(out, text);
    print_repeat(out, ' ', length < width ? width - (unsigned)length : 0);
}

void print_right(struct report_out *out, unsigned width, const char *text)
{
    size_t length = strlen(text);
    print_repeat(out, ' ', length < width ? width - (unsigned)length : 0);
    print_text(out, text);
}

/* Bytes of the character at `at` (Unicode 15, table 3-7: no overlong forms, no surrogates); 0 if it is none. */
static unsigned utf8_length(const char *at, size_t left)
{
    const unsigned char *p = (const unsigned char *)at;
    unsigned char lowest = 0x80, highest = 0xbf;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    unsigned length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (left < length)
        return 0;
    if (p[0] == 0xe0)
        lowest = 0xa0;
    if (p[0] == 0xed)
        highest = 0x9f;
    if (p[0] == 0xf0)
        lowest = 0x90;
    if (p[0] == 0xf4)
        highest = 0x8f;
    if (p[1] < lowest || p[1] > highest)
        return 0;
    for (unsigned i = 2; i < length; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return length;
}

/* C0, DEL and C1, which a terminal may obey. */
static bool is_control(const char *at, unsigned length)
{
    unsigned char first = (unsigned char)at[0];
    if (length == 1)
        return first < ' ' || first == 0x7f;
    return length == 2 && first == 0xc2 && (unsigned char)at[1] < 0xa0;
}

void print_plain(struct report_out *out, const char *text, size_t limit)
{
    size_t count = strnlen(text, limit);
    for (size_t i = 0; i < count;) {
        unsigned length = utf8_length(text + i, count - i);
        if (length && !is_control(text + i, length))
            print_bytes(out, text + i, length);
        else
            print_bytes(out, "?", 1);
        i += length ? length : 1;
    }
}

static void print_unicode_escape(struct report_out *out, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
    print_bytes(out, escape, sizeof(escape));
}

void print_json(struct report_out *out, const char *text, size_t limit)
{
    size_t count = strnlen(text, limit);
    print_text(out, "\"");
    for (size_t i = 0; i < count;) {
        unsigned length = utf8_length(text + i, count - i);
        if (text[i] == '"' || text[i] == '\\')
            print_text(out, "\\");
        if (length == 0 || is_control(text + i, length))
            print_unicode_escape(out, (unsigned char)text[i + (length == 2)]); // of C1 the second byte is the code
        else
            print_bytes(out, text + i, length);
        i += length ? length : 1;
    }
    print_text(out, "\"");
}

void print_label(struct report_out *out, const char *text, size_t limit)
{
    size_t count = strnlen(text, limit);
    print_text(out, "\"");
    for (size_t i = 0; i < count;) {
        unsigned length = utf8_length(text + i, count - i);
        if (text[i] == '"' || text[i] == '\\')
            print_text(out, "\\");
        if (text[i] == '\n')
            print_text(out, "\\n");
        else if (length)
            print_bytes(out, text + i, length);
        else
            print_text(out, "?");
        i += length ? length : 1;
    }
    print_text(out, "\"");
}
