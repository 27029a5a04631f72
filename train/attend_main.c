#include <stdio.h>
#include <sys/stat.h>

#include "attend.h"
#include "attn/file.h"
#include "attn/kernels.h"

#ifdef ATTN_DOUBLE
#define PROGRAM "attend"
#define SUMMARY                                                                                    \
    "Attention on arrays from .npy files, forward and backward, in double precision: a reference " \
    "for other implementations. attend32 does the same in float."
#else
#define PROGRAM "attend32"
#define SUMMARY                                                                                    \
    "Attention on arrays from .npy files, forward and backward, in float precision. attend does "  \
    "the same in double: that is the reference."
#endif

static const char examples[] =
    "  " PROGRAM " --q q.npy --k k.npy --v v.npy --causal --out mine\n"
    "  " PROGRAM " --q q.npy --k k.npy --v v.npy --dout do.npy --expect theirs\n"
    "  " PROGRAM " --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --heads 4 --out mine\n";

static const char notes[] =
    "Results, of the rank that came in: o.npy (of a layer with W_O, what comes\n"
    "behind it), p.npy (the attention weights), lse.npy (log-sum-exp of each row of\n"
    "scores); with --dout a gradient for each input NAME in dNAME.npy (dq, dk, dv;\n"
    "dx, dy, dwq, ...; of a float mask dmask, in the shape of the mask).\n"
    "A query that sees no key gets zeros, and lse -inf.\n"
    "\n"
    "--expect prints a row per result: an array agrees where\n"
    "    ||ours - theirs|| <= X (||theirs|| + 1e-9 sqrt(n))\n"
    "(Euclidean norms, n numbers, X from --tol).\n"
    "The place shown is that of the largest |ours - theirs|. Infinities of one sign\n"
    "in one place are equal; a NaN on either side never agrees. A result without a\n"
    "file there is not compared.\n"
    "\n"
    "Exit: 0 done, 1 an array differs, 2 usage or head counts that do not divide,\n"
    "3 bad input or shapes, 4 cannot write, 5 out of memory.\n";

/* Results written over what they are to be compared with would agree with it. */
static const char *check_apart(const struct attend_options *o, struct attn_error *e)
{
    struct stat out, expect;

    if (!o->out || !o->expect || stat(o->out, &out) || stat(o->expect, &expect)) return NULL;
    if (out.st_dev != expect.st_dev || out.st_ino != expect.st_ino) return NULL;
    return attn_fail(e, ATTN_BAD_USAGE, "--out and --expect are the same directory, %s", o->out);
}

static const char *compute(struct attend *a, struct attn_error *e)
{
    if (attend_options_check(&a->options, e) || check_apart(&a->options, e) ||
        attn_kernels_choose(e) || attend_read(a, e) || attend_fit(a, e))
        return e->text;
    if (a->options.out && attn_directory_make(a->options.out, e)) return e->text;
    return attend_run(a, e);
}

static int work(struct attend *a)
{
    struct attend_comparison c[ATTEND_RESULTS];
    struct attn_error e;
    bool agree = true;

    if (compute(a, &e)) return cli_die(PROGRAM, &e);
    if (a->options.expect) {
        if (attend_expect(c, a, &e)) return cli_die(PROGRAM, &e);
        for (int i = 0; i < a->results; i++) agree &= !c[i].there || c[i].agrees;
    }
    if (a->options.out && attend_write(a, &e)) return cli_die(PROGRAM, &e);
    if (a->options.expect)
        attend_print_comparisons(c, a);
    else if (attend_print(a, &e))
        return cli_die(PROGRAM, &e);
    return cli_close_stdout(PROGRAM, agree ? ATTN_FINE : ATTN_CHECK_FAILED);
}

int main(int argc, char **argv)
{
    struct attend a = {0};
    const struct cli cli = {.program = PROGRAM,
                            .summary = SUMMARY,
                            .examples = examples,
                            .notes = notes,
                            .options = attend_option_table,
                            .count = attend_option_count,
                            .take = attend_option_take,
                            .list = attend_list,
                            .context = &a.options};
    int code;

    attend_options_start(&a.options);
    code = cli_parse(&cli, argc, argv);
    if (code == CLI_GO_ON) code = work(&a);
    attend_free(&a);
    return code;
}
