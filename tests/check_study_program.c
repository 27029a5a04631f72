/* The program study, from outside: words, JSON, comparisons, exit codes, what it leaves alone. */
#include "test.h"

#include "attn/json.h"
#include "attn/memory.h"

static const char small[] = "--width 8 --batch 8 --eval-size 8 -q --steps 20";
static const char recall[] = "--pairs 3 --keys 6 --values 4";

/* "SCRATCH/NAME" of a run trained with these settings. Static storage, good for 4 calls. */
static const char *trained(const char *name, const char *settings)
{
    static char path[4][300];
    static int next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", scratch_directory(), name);
    ck_assert_msg(run("%s %s %s %s --out '%s'", program_path("train"), small,
                      strstr(settings, "--task") ? "" : recall, settings, p) == 0,
                  "%s", run_output);
    return p;
}

/* Standard output into run_output; what is said on standard error is thrown away. */
static int study(const char *arguments)
{
    return run("%s %s 2>/dev/null", program_path("study"), arguments);
}

static int study_run(const char *options, const char *where)
{
    char arguments[1024];

    snprintf(arguments, sizeof arguments, "%s '%s'", options, where);
    return study(arguments);
}

static void expect_said(const char *what)
{
    ck_assert_msg(strstr(run_output, what) != NULL, "no \"%s\" in:\n%s", what, run_output);
}

START_TEST(a_run_is_told_in_words)
{
    const char *where = trained("run", "--heads 2");

    ck_assert_int_eq(study_run("", where), 0);
    expect_said("run: recall, 20 of 20 steps, finished\n");
    expect_said("  held-out loss ");
    expect_said("(best constant answer 1.3");
    expect_said("  accuracy ");
    expect_said("  target mass ");
    expect_said("layer head  entropy / ln n");
    expect_said("\n    0    0  0.");
    expect_said("\n    0    1  0.");
    ck_assert_int_eq(run("rm '%s/result.json'", where), 0);
    ck_assert_int_eq(study_run("", where), 0);
    expect_said("20 of 20 steps, not finished");
    ck_assert_int_eq(run("cd '%s' && rm *.tsv *.npy", where), 0);
    ck_assert_int_eq(study_run("", where), 0);
    expect_said("nothing was logged yet");
}
END_TEST

/* Weights of any sign have no entropy; a text has no right keys. */
START_TEST(what_a_run_has_not_is_not_told)
{
    ck_assert_int_eq(study_run("", trained("signs", "--kind linear-identity")), 0);
    expect_said("they have no entropy and no target mass.\nlayer head  largest |weight| is right");
    expect_said("\n    0    0  0.");
    ck_assert_ptr_null(strstr(run_output, "effective keys"));
    ck_assert_int_eq(
        study_run("", trained("text", "--task text --data data/sentences.txt --heads 2")), 0);
    expect_said("\n  target mass   not known\n");
}
END_TEST

/* No line is wider than a terminal, and a diagnosis is among them. */
START_TEST(an_illness_is_told_in_words)
{
    const char *where = trained("ill", "--width 128 --scale 1");

    ck_assert_int_eq(study_run("", where), 0);
    expect_said("\nscale-missing (layer 0, head 0): saturated from the start:");
    for (const char *line = run_output; *line; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 80, "%s", line);
}
END_TEST

static const struct attn_json *parse(const char *text)
{
    const struct attn_json *root;
    struct attn_error e;
    const char *wrong = attn_json_parse(&root, text, strlen(text), "study", &e);

    ck_assert_msg(!wrong, "%s: %s", wrong ? wrong : "", text);
    ck_assert_int_eq(strchr(text, '\n') - text + 1, (long)strlen(text));
    return root;
}

/* The member behind a path of names, parted by blanks; "0" is the first element. */
static const struct attn_json *at(const struct attn_json *j, const char *path)
{
    char name[64];
    int n;

    for (; j && sscanf(path, " %63s%n", name, &n) == 1; path += n)
        j = strcmp(name, "0") == 0 ? j->first : attn_json_member(j, name);
    return j;
}

static double number_at(const struct attn_json *j, const char *path)
{
    double x;

    ck_assert_msg(attn_json_number(at(j, path), &x), "%s is no number", path);
    return x;
}

/* Of the last row of a table: column n, counted from 1. */
static double last_number(const char *where, const char *table, int column)
{
    ck_assert_int_eq(run("tail -n 1 '%s/%s' | cut -f %d", where, table, column), 0);
    return atof(run_output);
}

START_TEST(a_run_is_told_as_json)
{
    const char *where = trained("run", "");

    ck_assert_int_eq(study_run("--json", where), 0);
    const struct attn_json *root = parse(run_output);
    ck_assert_str_eq(at(root, "run")->text, where);
    ck_assert_str_eq(at(root, "name")->text, "run");
    ck_assert_str_eq(at(root, "status")->text, "done");
    ck_assert_str_eq(at(root, "settings task")->text, "recall");
    ck_assert_double_eq(number_at(root, "settings pairs"), 3);
    ck_assert_double_eq(number_at(root, "last_step"), 20);
    ck_assert_double_eq(number_at(root, "result steps"), 20);
    ck_assert_double_eq(number_at(root, "eval_loss end"), last_number(where, "metrics.tsv", 3));
    ck_assert_double_eq(number_at(root, "target_mass end"), last_number(where, "metrics.tsv", 5));
    ck_assert_double_eq(number_at(root, "heads 0 end entropy"), last_number(where, "heads.tsv", 4));
    ck_assert_double_eq(number_at(root, "heads 0 wq last_norm"),
                        last_number(where, "heads.tsv", 10));
    ck_assert_int_eq(at(root, "findings")->type, ATTN_JSON_ARRAY);
    ck_assert_int_eq(at(root, "heads 0 nearest_head")->type, ATTN_JSON_NULL);
    attn_free(root);
}
END_TEST

START_TEST(runs_are_compared)
{
    char arguments[2048];
    const char *a = trained("a", "--lr 0.01 --seed 1"), *b = trained("b", "--lr 0.01 --seed 2");
    const char *c = trained("c", "--lr 0.03 --seed 1");

    snprintf(arguments, sizeof arguments, "'%s' '%s' '%s'", a, b, c);
    ck_assert_int_eq(study(arguments), 0);
    expect_said("run  lr    seed ");
    expect_said("\na    0.01  1 ");
    expect_said("\nb    0.01  2 ");
    expect_said("\nc    0.03  1 ");
    expect_said("\nover seeds: median, least..most\n");
    expect_said("\n   2  0.01 ");
    expect_said("\n   1  0.03 ");
    snprintf(arguments, sizeof arguments, "--json '%s' '%s' '%s'", a, b, c);
    ck_assert_int_eq(study(arguments), 0);
    const struct attn_json *root = parse(run_output);
    ck_assert_str_eq(at(root, "differ 0")->text, "lr");
    ck_assert_str_eq(at(root, "differ 0")->next->text, "seed");
    ck_assert_str_eq(at(root, "runs 0")->next->next->first->text, c);
    ck_assert_str_eq(at(root, "groups 0 settings lr")->text, "0.01");
    const double x = last_number(a, "metrics.tsv", 3), y = last_number(b, "metrics.tsv", 3);
    ck_assert_double_eq_tol(number_at(root, "groups 0 eval_loss median"), (x + y) / 2, 1e-8);
    ck_assert_double_eq(number_at(root, "groups 0 eval_loss least"), x < y ? x : y);
    ck_assert_double_eq(number_at(root, "groups 0 eval_loss most"), x < y ? y : x);
    attn_free(root);
}
END_TEST

/* Tasks have settings of their own: what a run does not have is a dash. */
START_TEST(runs_of_other_tasks_are_compared)
{
    char arguments[1024];
    const char *a = trained("a", "");
    const char *b = trained("b", "--task reverse --length 6");

    snprintf(arguments, sizeof arguments, "'%s' '%s'", a, b);
    ck_assert_int_eq(study(arguments), 0);
    expect_said("\na    recall   3 ");
    expect_said("\nb    reverse  - ");
    ck_assert_ptr_null(strstr(run_output, "over seeds"));
}
END_TEST

/* What a terminal would obey is not sent to it. */
START_TEST(names_cannot_command_a_terminal)
{
    const char *where = trained("run", "");
    char arguments[1024];

    ck_assert_int_eq(run("cd '%s' && sed -i 's/\"recall\"/\"re\\\\u001b[2Jcall\"/' config.json &&"
                         "mv ../run \"../$(printf 'e\\033[2J')\"",
                         where),
                     0);
    snprintf(arguments, sizeof arguments, "'%s'/e*", scratch_directory());
    ck_assert_int_eq(study(arguments), 0);
    ck_assert_ptr_null(strchr(run_output, '\033'));
    expect_said("\\x1B[2J");
    snprintf(arguments, sizeof arguments, "'%s'/e* '%s'", scratch_directory(), trained("b", ""));
    ck_assert_int_eq(study(arguments), 0);
    ck_assert_ptr_null(strchr(run_output, '\033'));
}
END_TEST

/* R is a run, S another; N is not there. */
static const struct {
    const char *arguments;
    int code;
    const char *says;
} ends[] = {
    {"", 2, "study: expected the directory of a run"},
    {"N", 3, "N/config.json: not there: expected the directory of a run"},
    {"R N", 3, "N/config.json: not there"},
    {"--map R S", 2, "study: --map, --play, --loss, --html: expected one run"},
    {"--html x.html R S", 2, "study: --map, --play, --loss, --html: expected one run"},
    {"--map --loss R", 2, "study: --map, --play and --loss: only one of them"},
    {"--json --map R", 2, "study: --json: not with --map, --play, --loss"},
    {"--step 3 R", 2, "study: --step: expected --map with it"},
    {"--step 3 --play R", 2, "study: --step: expected --map with it"},
    {"--step -1 --map R", 2, "--step -1: expected"},
    {"--step 1e3 --map R", 2, "--step 1e3: expected"},
    {"--head 0 R", 2, "study: --head: expected --map or --play with it"},
    {"--head 1 --map R", 2, "study: --head 1: R has 1, counted from 0"},
    {"--layer 1 --map R", 2, "study: --layer 1: R has 1, counted from 0"},
    {"--ascii R", 2, "study: --ascii: expected --map, --play or --loss with it"},
    {"--color never R", 2, "study: --color: expected --map, --play or --loss with it"},
    {"--color blue --map R", 2, "study: --color blue: expected auto, always or never"},
    {"--svg R", 2, "study: --svg: expected --plot with it"},
    {"--out . R", 2, "study: --out: expected --plot or --reproduce with it"},
    {"--out '' --plot R", 2, "--out"},
    {"--html '' R", 2, "--html"},
    {"--html N/x.html R", 4, "N/x.html"},
    {"R >/dev/full", 4, "study: cannot write to standard output"},
    {"--json R >/dev/full", 4, "study: cannot write to standard output"},
    {"--map R >/dev/full", 4, "study: cannot write to standard output"},
    {"--loss R >&-", 4, "study: cannot write to standard output"},
};

START_TEST(each_end_has_its_code)
{
    char study_path[4096];

    trained("R", "");
    trained("S", "--seed 2");
    ck_assert_ptr_nonnull(realpath(program_path("study"), study_path));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const int code =
            run("cd '%s' && '%s' %s", scratch_directory(), study_path, ends[i].arguments);
        ck_assert_msg(code == ends[i].code && strstr(run_output, ends[i].says),
                      "study %s: exit %d: %s", ends[i].arguments, code, run_output);
    }
}
END_TEST

static const char *const breaks[] = {"echo x >>metrics.tsv", "echo x >>heads.tsv",
                                     "echo '{' >config.json", "echo >attention.npy",
                                     "sed -i 's/token/word/' probe.tsv"};

START_TEST(a_broken_run_is_named)
{
    const char *where = trained("run", "");

    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        ck_assert_int_eq(
            run("cp -r '%s' '%s.b' && cd '%s.b' && %s", where, where, where, breaks[i]), 0);
        ck_assert_int_eq(run("%s '%s.b'", program_path("study"), where), 3);
        expect_said("study: /");
        ck_assert_int_eq(run("rm -r '%s.b'", where), 0);
    }
}
END_TEST

/* Looking at a run changes nothing in it; what is asked for is made and nothing else. */
START_TEST(a_run_is_left_as_it_was)
{
    static const char *const looks[] = {"", "--json", "--map", "--loss", "--play"};
    const char *where = trained("run", "");

    ck_assert_int_eq(run("cd '%s' && md5sum * >../before && ls -a >../names", where), 0);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        ck_assert_int_eq(study_run(looks[i], where), 0);
        ck_assert_int_gt((int)strlen(run_output), 100);
    }
    char html[512];
    snprintf(html, sizeof html, "--html '%s.html'", where);
    ck_assert_int_eq(study_run(html, where), 0);
    ck_assert_str_eq(run_output, "");
    ck_assert_int_eq(run("test -s '%s.html'", where), 0);
    ck_assert_int_eq(run("cd '%s' && md5sum * | cmp - ../before && ls -a | cmp - ../names", where),
                     0);
}
END_TEST

/* Without layers there is nothing to see of attention, and every view says or leaves it. */
START_TEST(a_table_has_no_attention)
{
    static const char *const maps[] = {"--map", "--play"};
    char where[300], html[512];

    snprintf(where, sizeof where, "%s/run", scratch_directory());
    ck_assert_int_eq(
        run("%s --task copy --layers 0 --steps 20 -q --out '%s'", program_path("train"), where), 0);

    ck_assert_int_eq(study_run("", where), 0);
    expect_said("  accuracy ");
    expect_said("target mass   not known");
    expect_said("no layers, so no attention");
    expect_said("no illness found");
    ck_assert_int_eq(study_run("--json", where), 0);
    expect_said("\"heads\": []");
    ck_assert_int_eq(study_run("--loss", where), 0);
    expect_said("accuracy");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(study_run(maps[i], where), 0);
        ck_assert_str_eq(run_output, "run: no maps were recorded\n");
    }
    snprintf(html, sizeof html, "'%s' '%s'", where, trained("other", ""));
    ck_assert_int_eq(study(html), 0);
    snprintf(html, sizeof html, "--html '%s.html'", where);
    ck_assert_int_eq(study_run(html, where), 0);
    ck_assert_int_eq(run("grep -q '\"layers\":0' '%s.html'", where), 0);
}
END_TEST

void add_tests(Suite *suite)
{
    add_test(suite, "words", a_run_is_told_in_words);
    add_test(suite, "has not", what_a_run_has_not_is_not_told);
    add_test(suite, "illness", an_illness_is_told_in_words);
    add_test(suite, "json", a_run_is_told_as_json);
    add_test(suite, "compare", runs_are_compared);
    add_test(suite, "tasks", runs_of_other_tasks_are_compared);
    add_test(suite, "terminal", names_cannot_command_a_terminal);
    add_test(suite, "ends", each_end_has_its_code);
    add_test(suite, "broken", a_broken_run_is_named);
    add_test(suite, "table", a_table_has_no_attention);
    add_test(suite, "unchanged", a_run_is_left_as_it_was);
}
