/*
 * Routes: text to rules, rules to text, a size to its policy.
 *
 * The idea: all exceptions are resolved once, by the parser. UPTO is cut to what the policy can serve and the rest
 * gets a rule of its own, so a lookup is a walk over at most ROUTE_RULES comparisons, and the printed form says what
 * will really happen. A rule that could never serve anything is refused: a route in which a policy does not act is
 * not what its author meant.
 */
#define _GNU_SOURCE
#include "route.h"

#include "message.h"
#include "options.h"

enum {
    NAMES = 256, // bytes of the list of names in a complaint
    SHOWN = 40,  // bytes of a wrong word that are shown
};

static const char rest_name[] = "native";

const struct route_preset route_presets[] = {
    {"balanced", "thread:32K,array:1M,native", "bins per thread for small blocks, a shared array for middle ones"},
    {NULL, NULL, NULL},
};

/* What a parse knows: where it is, and where its complaint goes. */
struct parser {
    struct route *route;
    char *why;
    size_t why_size;
    size_t written; // UPTO of the rule before, as it is in the text
    size_t served;  // what that rule really serves up to
};

/* A part of the text: a name, or a size. */
struct part {
    const char *text;
    size_t length;
};

static bool part_is(struct part part, const char *name)
{
    return strlen(name) == part.length && memcmp(part.text, name, part.length) == 0;
}

static const struct policy *policy_find(struct part name)
{
    for (const struct policy *const *policy = policies; *policy; policy++) {
        if (part_is(name, (*policy)->name))
            return *policy;
    }
    return NULL;
}

static const struct route_preset *preset_find(struct part name)
{
    for (const struct route_preset *preset = route_presets; preset->name; preset++) {
        if (part_is(name, preset->name))
            return preset;
    }
    return NULL;
}

/* What serves what nothing else does. The table has it; a table of a test may not. */
static const struct policy *rest_policy(void)
{
    const struct policy *rest = policy_find((struct part){rest_name, sizeof(rest_name) - 1});
    return rest ? rest : policies[0];
}

static size_t largest_of(const struct policy *policy)
{
    return policy == rest_policy() ? SIZE_MAX : policy->largest;
}

/* "32K": exact, so it reads back as the same number. */
static void size_print(size_t bytes, char *ret, size_t size)
{
    static const char units[] = "\0KMG";
    unsigned unit = 0;
    while (bytes && bytes % 1024 == 0 && unit < 3) {
        bytes /= 1024;
        unit++;
    }
    message_format(ret, size, unit ? "%zu%c" : "%zu", bytes, units[unit]);
}

/* ---- complaints: each returns false ---- */

static void nearest(const char *known, const char *name, unsigned *best, const char **ret)
{
    unsigned edits = edit_distance(known, name, OPTION_EDITS);
    if (edits < *best) {
        *best = edits;
        *ret = known;
    }
}

/* The known name that `name` is a misspelling of, NULL if there is none. */
static const char *name_suggest(struct part name)
{
    char copy[OPTION_NAME];
    if (name.length >= sizeof(copy))
        return NULL;
    memcpy(copy, name.text, name.length);
    copy[name.length] = '\0';
    const char *meant = NULL;
    unsigned best = OPTION_EDITS + 1;
    for (const struct policy *const *policy = policies; *policy; policy++)
        nearest((*policy)->name, copy, &best, &meant);
    for (const struct route_preset *preset = route_presets; preset->name; preset++)
        nearest(preset->name, copy, &best, &meant);
    return meant;
}

static size_t name_list(char *buffer, size_t size)
{
    size_t used = 0;
    for (const struct policy *const *policy = policies; *policy; policy++)
        used += message_format(buffer + used, size - used, "%s%s", used ? ", " : "", (*policy)->name);
    for (const struct route_preset *preset = route_presets; preset->name; preset++)
        used += message_format(buffer + used, size - used, ", %s", preset->name);
    return used;
}

static bool unknown_policy(const struct parser *parser, struct part name)
{
    char shown[SHOWN], list[NAMES], hint[OPTION_NAME + 32];
    const char *meant = name_suggest(name);
    message_escape(shown, sizeof(shown), name.text, name.length);
    name_list(list, sizeof(list));
    hint[0] = '\0';
    if (meant)
        message_format(hint, sizeof(hint), "did you mean `%s`? ", meant);
    message_format(parser->why, parser->why_size, "%s policy `%s`: %saccepted: %s", name.length ? "unknown" : "empty",
                   shown, hint, list);
    return false;
}

static bool bad_size(const struct parser *parser, struct part size)
{
    char shown[SHOWN];
    message_escape(shown, sizeof(shown), size.text, size.length);
    message_format(parser->why, parser->why_size,
                   "`%s` is no size: accepted: bytes, or a number with K, M or G, such as 32K", shown);
    return false;
}

static bool not_rising(const struct parser *parser, const struct policy *policy, size_t upto)
{
    char these[32], before[32];
    size_print(upto, these, sizeof(these));
    size_print(parser->written, before, sizeof(before));
    message_format(parser->why, parser->why_size, "`%s:%s` serves nothing: accepted: a size above %s here",
                   policy->name, these, before);
    return false;
}

static bool nothing_left(const struct parser *parser, const struct policy *policy)
{
    char largest[32], before[32];
    size_print(policy->largest, largest, sizeof(largest));
    size_print(parser->served, before, sizeof(before));
    message_format(parser->why, parser->why_size,
                   "`%s` serves nothing here: its blocks have at most %s bytes, and sizes up to %s are taken",
                   policy->name, largest, before);
    return false;
}

static bool no_upto(const struct parser *parser, const struct policy *policy)
{
    message_format(parser->why, parser->why_size,
                   "`%s` needs a size, as another policy follows: accepted: %s:UPTO, such as %s:32K", policy->name,
                   policy->name, policy->name);
    return false;
}

static bool preset_not_alone(const struct parser *parser, const struct route_preset *preset)
{
    message_format(parser->why, parser->why_size, "`%s` stands for a whole route: accepted: `%s` alone, or `%s`",
                   preset->name, preset->name, preset->route);
    return false;
}

static bool too_many(const struct parser *parser)
{
    message_format(parser->why, parser->why_size, "too many policies: accepted: at most %u, with %s for the rest",
                   (unsigned)ROUTE_RULES, rest_name);
    return false;
}

/* ---- parsing ---- */

static bool rule_add(const struct parser *parser, const struct policy *policy, size_t upto)
{
    struct route *route = parser->route;
    if (route->count == ROUTE_RULES)
        return too_many(parser);
    route->rules[route->count++] = (struct route_rule){policy, upto};
    return true;
}

/* One NAME[:UPTO] of the text. `last`: nothing follows. */
static bool rule_parse(struct parser *parser, struct part rule, bool last)
{
    const char *colon = memchr(rule.text, ':', rule.length);
    struct part name = {rule.text, colon ? (size_t)(colon - rule.text) : rule.length};
    const struct policy *policy = policy_find(name);
    const struct route_preset *preset = preset_find(name);
    if (!policy && preset)
        return preset_not_alone(parser, preset);
    if (!policy)
        return unknown_policy(parser, name);
    if (!colon && !last && largest_of(policy) == SIZE_MAX)
        return no_upto(parser, policy);
    size_t upto = SIZE_MAX;
    if (colon) {
        struct part size = {colon + 1, rule.length - name.length - 1};
        if (!size_parse(size.text, size.length, &upto))
            return bad_size(parser, size);
        if (upto <= parser->written)
            return not_rising(parser, policy, upto);
    }
    if (largest_of(policy) <= parser->served)
        return nothing_left(parser, policy);
    parser->written = upto;
    parser->served = min_size(upto, largest_of(policy));
    return rule_add(parser, policy, parser->served);
}

static bool rules_parse(struct parser *parser, const char *text)
{
    parser->route->count = 0;
    parser->written = 0;
    parser->served = 0;
    for (;;) {
        struct part rule = {text, strcspn(text, ",")};
        bool last = !text[rule.length];
        if (!rule_parse(parser, rule, last))
            return false;
        if (last)
            break;
        text += rule.length + 1;
    }
    // whatever the last rule leaves is native's
    return parser->served == SIZE_MAX || rule_add(parser, rest_policy(), SIZE_MAX);
}

bool route_parse(const char *text, struct route *ret, char *why, size_t size)
{
    struct route route;
    struct parser parser = {.route = &route, .why = why, .why_size = size};
    struct part whole = {text, strlen(text)};
    const struct route_preset *preset = preset_find(whole);
    if (!rules_parse(&parser, preset ? preset->route : text))
        return false;
    *ret = route;
    return true;
}

void route_default(struct route *ret)
{
    char why[NAMES];
    if (!route_parse(options[OPTION_POOL_POLICY].fallback, ret, why, sizeof(why)))
        *ret = (struct route){.rules = {{rest_policy(), SIZE_MAX}}, .count = 1};
}

size_t route_print(const struct route *route, char *buffer, size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < route->count; i++) {
        const struct route_rule *rule = &route->rules[i];
        char upto[32];
        size_print(rule->upto, upto, sizeof(upto));
        bool rest = rule->upto == SIZE_MAX;
        used += message_format(buffer + used, size - used, "%s%s%s%s", i ? "," : "", rule->policy->name,
                               rest ? "" : ":", rest ? "" : upto);
    }
    return used;
}

const struct policy *route_policy(const struct route *route, size_t size)
{
    for (unsigned i = 0; i < route->count; i++) {
        const struct route_rule *rule = &route->rules[i];
        if (size <= rule->upto && size <= largest_of(rule->policy))
            return rule->policy;
    }
    return rest_policy();
}
