/*
 * The route as tables: each size finds its class and policy, and the page says the same.
 */
#include <criterion/criterion.h>

#include "started.h"

static unsigned slot_class(size_t size)
{
    return dispatch_bins[(size + 15) / 16] >> BIN_SHIFT;
}

Test(dispatch, before_start_all_leads_to_the_slow_path)
{
    for (size_t size = 0; size <= CLASS_TABLE_MAX; size += 16) {
        cr_assert_eq(slot_class(size), CLASS_NONE);
        cr_assert_eq(dispatch_class(size), class_of(size));
    }
    cr_assert_null(dispatch_policies[CLASS_FIRST]);
}

Test(dispatch, fast_table_and_function_agree)
{
    start_core("POOL_POLICY=thread:1K,array:32K,onecache:1M,native", "POOL_NATIVE=mimalloc", NULL);
    for (size_t size = 0; size <= CLASS_TABLE_MAX; size++) {
        unsigned class = dispatch_class(size);
        cr_assert_eq(slot_class(size), class, "%zu bytes", size);
        cr_assert_geq(class_size(class), size);
    }
}

Test(dispatch, route_is_followed_class_by_class)
{
    start_core("POOL_POLICY=thread:1K,array:32K,onecache:1M,native", "POOL_NATIVE=mmap", NULL);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        size_t size = class_size(class);
        const char *name = size <= KiB(1)    ? "thread"
                           : size <= KiB(32) ? "array"
                           : size <= MiB(1)  ? "onecache"
                                             : "native";
        cr_assert_str_eq(dispatch_policies[class]->name, name, "%zu bytes", size);
        cr_assert_str_eq(page->policies[page->class_policy[class]].name, name);
    }
    cr_assert_str_eq(page->route, "thread:1K,array:32K,onecache:1M,native");
}

Test(dispatch, page_lists_all_policies_and_their_share)
{
    uint64_t asked = 0;
    unsigned count = 0;
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", NULL);
    for (; policies[count]; count++) {
        cr_assert_str_eq(page->policies[count].name, policies[count]->name);
        asked += page->policies[count].asked;
    }
    cr_assert_eq(page->policy_count, count);
    cr_assert_eq(asked, CLASS_COUNT - 1);
}

Test(dispatch, policy_that_rounds_up_changes_the_class)
{
    start_core("POOL_POLICY=native", "POOL_NATIVE=mimalloc", NULL);
    unsigned changed = 0;
    for (size_t size = 1; size <= MiB(20); size += size < 4096 ? 1 : 997) {
        unsigned class = dispatch_class(size);
        cr_assert_eq(class, native_class(class_of(size)), "%zu bytes", size);
        changed += class != class_of(size);
    }
    cr_assert_eq(dispatch_class(CLASS_SIZE_MAX), CLASS_COUNT - 1);
    cr_assert_eq(dispatch_class(CLASS_SIZE_MAX + 1), CLASS_NONE);
    cr_assert_eq(dispatch_class(SIZE_MAX), CLASS_NONE);
    (void)changed;
}

Test(dispatch, what_came_before_the_route_belongs_to_the_policies_that_have_its_classes)
{
    void *small = take(100), *large = take(KiB(100));
    unsigned small_class = class_of(100), large_class = class_of(KiB(100));
    cr_assert_not_null(small);
    cr_assert_not_null(large);
    start_core("POOL_POLICY=thread:1K,array", "POOL_NATIVE=mmap", NULL);
    int64_t of_thread = 0, of_array = 0;
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++)
        *(class_size(class) <= KiB(1) ? &of_thread : &of_array) += page->classes[class].levels.held.now;
    cr_assert_geq(of_thread, 100);
    cr_assert_geq(of_array, (int64_t)KiB(100));
    cr_assert_eq(page->policies[page->class_policy[small_class]].levels.held.now, of_thread);
    cr_assert_eq(page->policies[page->class_policy[large_class]].levels.held.now, of_array);
    give(small);
    give(large);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}
