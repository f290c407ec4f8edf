/*
 * The unit map's tables: one per window, made when something of ours first lies there and never given back.
 */
#include "unit.h"

#include "os.h"

struct unit_map unit_map;

enum { WINDOW_BYTES = (sizeof(struct window) + OS_PAGE - 1) / OS_PAGE * OS_PAGE };

/* Two threads may make the same table: the first to enter it wins. */
static bool make_window(uintptr_t index)
{
    struct window *window = os_map(WINDOW_BYTES);
    if (!window)
        return false;
    intptr_t none = 0, table = (intptr_t)window - (intptr_t)unit_map.nothing;
    if (!__atomic_compare_exchange_n(&unit_map.table[index], &none, table, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        os_unmap(window, WINDOW_BYTES, WINDOW_BYTES);
    return true;
}

bool unit_cover(const char *start, size_t bytes)
{
    uintptr_t last = (uintptr_t)(start + bytes - 1) >> WINDOW_SHIFT;
    for (uintptr_t index = (uintptr_t)start >> WINDOW_SHIFT; index <= last; index++)
        if (index >= WINDOWS || (!hint_get(unit_map.table[index]) && !make_window(index)))
            return false;
    return true;
}

void unit_mark(char *start, size_t bytes, unsigned class, struct span *span)
{
    for (char *unit = start; unit < start + bytes; unit += UNIT) {
        struct window *window = window_of(unit);
        hint_set(window->bins[unit_index(unit)], (uint16_t)(class << BIN_SHIFT));
        hint_set(window->spans[unit_index(unit)], span);
    }
}

bool unit_mark_native(const void *block, unsigned class)
{
    if (!unit_cover(block, 1))
        return false;
    hint_set(window_of(block)->bins[unit_index(block)], (uint16_t)(class << BIN_SHIFT));
    return true;
}
