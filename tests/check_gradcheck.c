/* The program: it passes the library as it is, finds every fault that it can
 * plant, and says what it did. It is built for double only, and so are the runs. */
#include "test.h"

#include "attn/activation.h"
#include "attn/attention.h"
#include "attn/json.h"
#include "attn/memory.h"
#include "attn/position.h"
#include "gradcheck_run.h"

static int gradcheck(const char *arguments)
{
    return run("%s %s 2>/dev/null", program_path("gradcheck"), arguments);
}

START_TEST(it_is_built_for_double)
{
    ck_assert_int_eq(gradcheck("--version"), 0);
    ck_assert_msg(strstr(run_output, "double precision"), "%s", run_output);
}
END_TEST

#ifdef ATTN_DOUBLE

static const char *last_line(void)
{
    char *end = run_output + strlen(run_output);

    while (end > run_output && end[-1] == '\n') *--end = '\0';
    while (end > run_output && end[-1] != '\n') end--;
    return end;
}

START_TEST(the_library_passes)
{
    ck_assert_msg(gradcheck("") == 0, "%s", run_output);
    for (int i = 0; gradcheck_topics[i]; i++)
        ck_assert_msg(strstr(run_output, gradcheck_topics[i]->name), "no %s in\n%s",
                      gradcheck_topics[i]->name, run_output);
    ck_assert_msg(strstr(last_line(), "(double): all within 1e-10 of the norm, 1e-08"), "%s",
                  run_output);
}
END_TEST

/* A fault must be convicted; that something was refused would be no finding. */
static void expect_found(const char *fault)
{
    char arguments[64];

    snprintf(arguments, sizeof arguments, "--plant %s", fault);
    ck_assert_msg(gradcheck(arguments) == ATTN_CHECK_FAILED, "%s:\n%s", fault, run_output);
    ck_assert_msg(strstr(run_output, "  wrong"), "%s:\n%s", fault, run_output);
    ck_assert_msg(strstr(last_line(), "FAILED"), "%s:\n%s", fault, run_output);
}

START_TEST(every_fault_is_found)
{
    char list[8192], *at;
    int n = 0;

    ck_assert_int_eq(gradcheck("--plant list"), 0);
    ck_assert_int_lt(snprintf(list, sizeof list, "%s", run_output), (int)sizeof list);
    for (char *line = strtok_r(list, "\n", &at); line; line = strtok_r(NULL, "\n", &at), n++) {
        line[strcspn(line, " ")] = '\0';
        expect_found(line);
    }
    ck_assert_int_ge(n, 8);
}
END_TEST

/* The faulty backwards are made from one that is right: its fault is what is found. */
START_TEST(the_plain_backward_has_no_fault_of_its_own)
{
    static struct gradcheck_result result;
    const struct gradcheck_plan plan = {.seed = 3, .plant = &gradcheck_plant_none};
    struct attn_error e;

    ck_assert_ptr_null(gradcheck_run(&result, &plan, &e));
    ck_assert_int_gt(result.configurations, 20);
    for (int i = 0; i < result.rows; i++)
        ck_assert_msg(result.row[i].worst.verdict == GRADCHECK_OK, "%s: %s at %s",
                      result.row[i].tensor, gradcheck_verdict_name(result.row[i].worst.verdict),
                      result.row[i].at);
}
END_TEST

static const struct {
    const char *arguments, *says;
} refused[] = {
    {"--op layernrm", "did you mean layernorm"},
    {"--op nothing", "linear, embedding, layernorm"},
    {"--kind nothing", "dot, additive"},
    {"--plant nothing", "list, sign, scale"},
    {"--op layernorm --kind dot", "nothing to check"},
    {"--op linear --plant sign", "nothing to check"},
    {"--plant sign --kind additive --op softmax", "nothing to check"},
    {"--seed 1x", "--seed"},
    {"--seed -1", "--seed"},
    {"--unknown", "--unknown"},
    {"word", "word"},
};
enum { REFUSED = sizeof refused / sizeof *refused };

START_TEST(wrong_usage)
{
    const int code = run("%s %s", program_path("gradcheck"), refused[_i].arguments);

    ck_assert_msg(code == ATTN_BAD_USAGE, "%s: exit code %d\n%s", refused[_i].arguments, code,
                  run_output);
    ck_assert_msg(strstr(run_output, refused[_i].says), "%s:\n%s", refused[_i].arguments,
                  run_output);
}
END_TEST

static const struct attn_json *parse_line(const char *line)
{
    const struct attn_json *root;
    struct attn_error e;
    const char *wrong = attn_json_parse(&root, line, strlen(line), "line", &e);

    ck_assert_msg(!wrong, "%s: %s", wrong, line);
    ck_assert_int_eq(root->type, ATTN_JSON_OBJECT);
    return root;
}

static void free_line(const struct attn_json *root)
{
    union {
        const struct attn_json *read;
        void *block;
    } tree = {.read = root};

    attn_free(tree.block);
}

/* Every line is an object; the last one sums up. Returns its member `failed`. */
static int64_t failed_in_json(int *lines)
{
    int64_t failed = -1;
    char *at;

    *lines = 0;
    for (char *line = strtok_r(run_output, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
        const struct attn_json *root = parse_line(line), *sum = attn_json_member(root, "failed");

        ck_assert_msg(sum || attn_json_member(root, "verdict"), "%s", line);
        if (sum) {
            ck_assert_str_eq(attn_json_member(root, "precision")->text, "double");
            ck_assert(attn_json_integer(sum, &failed));
            ck_assert_msg(!*at, "more after the sum: %s", at);
        }
        (*lines)++;
        free_line(root);
    }
    return failed;
}

START_TEST(json_lines)
{
    int few, many;

    ck_assert_int_eq(gradcheck("--op softmax --json"), 0);
    ck_assert_int_eq(failed_in_json(&few), 0);
    ck_assert_int_eq(few, 2);
    ck_assert_int_eq(gradcheck("--op softmax --json --verbose"), 0);
    ck_assert_int_eq(failed_in_json(&many), 0);
    ck_assert_int_gt(many, 5);
    ck_assert_int_eq(gradcheck("--plant row-sum --json"), ATTN_CHECK_FAILED);
    ck_assert_int_eq(failed_in_json(&few), 1);
}
END_TEST

START_TEST(the_seed_decides)
{
    static char first[sizeof run_output];

    ck_assert_int_eq(gradcheck("--op attention --kind dot --seed 5"), 0);
    strcpy(first, run_output);
    ck_assert_int_eq(gradcheck("--op attention --kind dot --seed 5"), 0);
    ck_assert_str_eq(first, run_output);
    ck_assert_int_eq(gradcheck("--op attention --kind dot --seed 6"), 0);
    ck_assert_str_ne(first, run_output);
}
END_TEST

START_TEST(verbose_names_configurations_and_restrictions_hold)
{
    ck_assert_int_eq(gradcheck("--op attention --kind additive -v"), 0);
    ck_assert_msg(strstr(run_output, "kind=additive mask="), "%s", run_output);
    ck_assert_msg(!strstr(run_output, "kind=dot"), "%s", run_output);
    ck_assert_msg(!strstr(run_output, "linear "), "%s", run_output);
    ck_assert_int_eq(gradcheck("--op linear"), 0);
    ck_assert_msg(!strstr(run_output, "attention"), "%s", run_output);
}
END_TEST

/* What stands in a table of the library is in a factor, with no list to keep up. */
START_TEST(the_list_walks_the_tables)
{
    ck_assert_int_eq(gradcheck("--list"), 0);
    for (int i = 0; attn_kinds[i]; i++)
        ck_assert_msg(strstr(run_output, attn_kind_name(attn_kinds[i])), "%s", run_output);
    for (int i = 0; attn_positions[i]; i++)
        ck_assert_msg(strstr(run_output, attn_positions[i]->name), "%s", run_output);
    for (int i = 0; attn_activations[i]; i++)
        ck_assert_msg(strstr(run_output, attn_activations[i]->name), "%s", run_output);
    for (int i = 0; gradcheck_topics[i]; i++)
        ck_assert_msg(strstr(run_output, gradcheck_topics[i]->name), "%s", run_output);
    for (const struct gradcheck_plant *p = gradcheck_plants; p->name; p++)
        ck_assert_msg(strstr(run_output, p->name), "%s", run_output);
}
END_TEST

START_TEST(without_memory_nothing_is_left)
{
    static struct gradcheck_result result;
    const struct gradcheck_plan plan = {.seed = 1, .topic = gradcheck_topic_find("residual")};
    const long before = attn_alloc_live();
    struct attn_error e;

    for (long n = 1; n <= 3; n++) {
        attn_alloc_fail_from(n);
        ck_assert_ptr_nonnull(gradcheck_run(&result, &plan, &e));
        attn_alloc_fail_from(0);
        ck_assert_int_eq(e.fault, ATTN_OUT_OF_MEMORY);
        ck_assert_int_eq(attn_alloc_live(), before);
    }
    ck_assert_ptr_null(gradcheck_run(&result, &plan, &e));
    ck_assert_int_eq(attn_alloc_live(), before);
}
END_TEST

#endif

void add_tests(Suite *suite)
{
    add_test(suite, "it is built for double", it_is_built_for_double);
#ifdef ATTN_DOUBLE
    add_test(suite, "the library passes", the_library_passes);
    add_test(suite, "every fault is found", every_fault_is_found);
    add_test(suite, "the plain backward has no fault of its own",
             the_plain_backward_has_no_fault_of_its_own);
    add_loop_test(suite, "wrong usage", wrong_usage, REFUSED);
    add_test(suite, "JSON lines", json_lines);
    add_test(suite, "the seed decides", the_seed_decides);
    add_test(suite, "verbose names configurations, restrictions hold",
             verbose_names_configurations_and_restrictions_hold);
    add_test(suite, "the list walks the tables", the_list_walks_the_tables);
    add_test(suite, "without memory nothing is left", without_memory_nothing_is_left);
#endif
}
