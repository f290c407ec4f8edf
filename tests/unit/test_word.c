/*
 * Numbers as short texts.
 */
#include <criterion/criterion.h>

#include <time.h>

#include "interpose/word.h"

Test(word, sizes)
{
    cr_assert_str_eq(word_size(0).text, "0 B");
    cr_assert_str_eq(word_size(1023).text, "1023 B");
    cr_assert_str_eq(word_size(1536).text, "1.5 KiB");
    cr_assert_str_eq(word_size(MiB(1) - 1).text, "1.0 MiB");
    cr_assert_str_eq(word_size(-1536).text, "-1.5 KiB");
    cr_assert_str_eq(word_size(INT64_MIN).text, "-8192.0 PiB");
    cr_assert_str_eq(word_size_exact(1280).text, "1280 B");
    cr_assert_str_eq(word_size_exact(20480).text, "20 KiB");
    cr_assert_str_eq(word_size_exact(0).text, "0 B");
    cr_assert_str_eq(word_size_exact((size_t)1 << 47).text, "128 TiB");
}

Test(word, numbers)
{
    cr_assert_str_eq(word_number(UINT64_MAX).text, "18446744073709551615");
    cr_assert_str_eq(word_signed(INT64_MIN).text, "-9223372036854775808");
    cr_assert_str_eq(word_count(999999).text, "999999");
    cr_assert_str_eq(word_count(1234567).text, "1.23 M");
    cr_assert_str_eq(word_count(45678901234).text, "45.7 G");
    cr_assert_str_eq(word_count(UINT64_MAX).text, "18.4 E");
    cr_assert_str_eq(word_decimal(1.005, 2).text, "1.00");
    cr_assert_str_eq(word_decimal(2.0 / 3, 4).text, "0.6667");
    cr_assert_str_eq(word_decimal(-0.5, 0).text, "-1");
    cr_assert_str_eq(word_decimal(-0.001, 2).text, "0.00");
    cr_assert_str_eq(word_decimal(__builtin_nan(""), 2).text, "0");
    cr_assert_str_eq(word_decimal(1e300, 2).text, "0");
}

Test(word, times)
{
    cr_assert_str_eq(word_seconds(12345678901).text, "12.345");
    cr_assert_str_eq(word_seconds(1000000).text, "0.001");
    cr_assert_str_eq(word_time(0).text, "1970-01-01T00:00:00.000Z");
    cr_assert_str_eq(word_time(1709164799999000000).text, "2024-02-28T23:59:59.999Z");
    cr_assert_str_eq(word_time(1709164800000000000).text, "2024-02-29T00:00:00.000Z");
    cr_assert_str_eq(word_time_compact(1796077768123456789).text, "20261130T222928Z");
    for (uint64_t day = 0; day < 100000; day += 13) { // against libc
        time_t seconds = (time_t)(day * 86400 + 3723);
        char wanted[32];
        strftime(wanted, sizeof(wanted), "%Y-%m-%dT%H:%M:%S.000Z", gmtime(&seconds));
        cr_assert_str_eq(word_time((uint64_t)seconds * 1000000000).text, wanted);
    }
}
