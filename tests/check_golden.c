/* One multi-head layer whose outputs and gradients were computed elsewhere to
 * 50 digits, and what follows from it: causality, sums of paths, accumulation. */
#include <math.h>

#include "compare.h"
#include "layer_trial.h"
#include "test.h"

enum { T = 3, C = 4 };

struct golden {
    bool causal;
    double loss, p[2 * T * T], o[T * C], dx[T * C], dwq[C * C], dwk[C * C], dwv[C * C];
};

static const struct golden goldens[] = {
    {.loss = -0.091706489230911347,
     .p = {0.33294986362912348, 0.23586918798322872, 0.4311809483876478, 0.29414823643831745,
           0.40974710385606596, 0.29610465970561659, 0.41002584270080477, 0.26124002368106147,
           0.32873413361813376, 0.14705197100441835, 0.12664776902557922, 0.72630025997000243,
           0.41072611601296649, 0.42833734445328406, 0.16093653953374945, 0.27429900295992181,
           0.2796850642395141, 0.44601593280056409},
     .o = {0.32190913135519961, -0.078852992367437946, -0.41513651510445193, -0.093082762988528027,
           0.22467169993361871, -0.2911921457377126, 0.16527111963776048, 0.18326319215973902,
           0.30496312515737167, -0.20084712836977541, -0.12808840335520879, 0.042761023386452573},
     .dx = {-0.0068401158470103233, 0.056666819604865125, -0.53074934542100931,
            -0.42069249399176936, -0.29745991217301204, -0.064498294077235954, -0.63148061789592641,
            -0.40906609881432222, 0.040040444766858078, 0.11697741210508596, -0.57951030083035183,
            -0.51365138227112715},
     .dwq = {-0.03038672319395014, 0.02449039800430543, 0.043094524998059836, -0.076533564973447346,
             -0.026402481601250255, -0.011262397865875089, 0.013286339727101464,
             0.00035948555824990528, 0.055170209804518615, 0.015287406674758571,
             -0.036574504101537318, 0.034874254165436222, -0.0012437526855605406,
             -0.035463362926995511, -0.016340893293815987, 0.0095109999463753116},
     .dwk = {0.085597848390151024, -2.9948412445790853e-5, 0.053000490503906133,
             -0.036679872886198215, -0.048936065601927604, -0.020084292245882761,
             -0.045960091188147997, 0.037502061547819911, 0.085597848390151024,
             -2.9948412445790853e-5, 0.053000490503906133, -0.036679872886198215,
             -0.1833089139411171, 0.10057120329164276, -0.03520199657879068,
             -0.0041109433081084778},
     .dwv = {-0.23220518859506787, -0.57017470430559649, 0.53471911715141658, 0.34714155918037527,
             -0.064555304914199967, 0.18340261049121968, -0.14096206936488775,
             -0.073406696445147952, 0.16779481140493213, 0.029825295694403506,
             -0.065280882848583416, -0.052858440819624727, 0.15046913421300586,
             -0.06613953092811593, 0.031214761067355839, -0.035340980342803273}},
    {.causal = true,
     .loss = -1.179281315110244,
     .p = {1.0, 0, 0, 0.41788632428692971, 0.58211367571307029, 0, 0.41002584270080477,
           0.26124002368106147, 0.32873413361813376, 1.0, 0, 0, 0.48950542523295475,
           0.51049457476704525, 0, 0.27429900295992181, 0.2796850642395141, 0.44601593280056409},
     .o = {0.43333333333333333, -0.46666666666666667, 0.43333333333333333, 0.43333333333333333,
           0.12287270628636251, -0.68010834776145911, 0.33123441837992428, 0.26316847507765158,
           0.30496312515737167, -0.20084712836977541, -0.12808840335520879, 0.042761023386452573},
     .dx = {0.76158157294814649, 0.62737786479923684, -0.77737817181853192, -0.91158187996744156,
            -0.5137308842112028, -0.38023155148895256, -0.59012883146554411, -0.51160068202501631,
            -0.34177440308417366, -0.18840923165003604, -0.21234957234401187,
            -0.070062449688877453},
     .dwq = {-0.011814457158510752, 0.0013118754665488793, 0.016076630948117953,
             -0.041071484799361068, -0.013973340955832413, -0.016206695816388644,
             -0.0072866051436159207, 0.039550205056553798, 0.035103358751564773,
             0.025699284227432194, -0.0039322890420914186, -0.024845523628228596,
             -0.027453729128535927, -0.0068172607870788922, 0.02274627094485441,
             -0.046480138523071891},
     .dwk = {0.067943948269332859, -0.0070096601104648902, 0.083941525389748439,
             -0.060402354705696173, -0.051566457759721556, 0.017786017735943604,
             -0.076640912453353732, 0.052767892422709247, 0.067943948269332859,
             -0.0070096601104648902, 0.083941525389748439, -0.060402354705696173,
             -0.081887452548056513, -0.053881788127393567, -0.036503064681973535,
             0.03817231141493463},
     .dwv = {0.28469298094961802, -0.76715452971477188, 0.5125853276614954, 0.4788984405937421,
             -0.44577580701802677, 0.20596210809564324, -0.10284722329138406, 0.053346030420977303,
             0.68469298094961802, -0.16715452971477188, -0.087414672338504596, 0.078898440593742103,
             -0.52791920299128961, 0.80596210809564324, -0.048690521850556728,
             -1.3278890217402637}}};

/* ((a n mod m) - b) / d for n = 0, 1, ... */
static void sequence(attn_real *to, int n, int a, int m, int b, double d)
{
    for (int i = 0; i < n; i++) to[i] = (attn_real)((a * i % m - b) / d);
}

static void make(struct layer_trial *t, bool causal)
{
    const struct layer_options plain = {.output = false};
    struct attn_layer layer = {.C = C, .Cy = C, .Co = C};

    layer.core.n = (struct attn_shape){1, 2, 2, T, T, 2, 2};
    layer.core.kind = attn_kinds[0];
    layer.core.mask.causal = causal;
    layer_trial_make(t, &layer, plain, 0, 1);
    sequence(t->value[X], T * C, 7, 11, 5, 5);
    sequence(t->value[WQ], C * C, 5, 13, 6, 8);
    sequence(t->value[WK], C * C, 3, 11, 5, 8);
    sequence(t->value[WV], C * C, 7, 9, 4, 6);
    sequence(t->dout, T * C, 5, 7, 3, 3);
}

static void expect_all(const attn_real *got, const double *want, size_t n, const char *what)
{
    expect_near(got, want, n, TOLERANCE(1e-14, 2e-6), TOLERANCE(1e-13, 2e-5), what);
}

START_TEST(forward_and_all_gradients)
{
    const struct golden *g = &goldens[_i];
    struct layer_trial t;
    double loss = 0;

    make(&t, g->causal);
    layer_trial_forward(&t);
    layer_trial_backward(&t);
    for (size_t i = 0; i < T * C; i++) loss += (double)t.dout[i] * (double)t.out[i];
    ck_assert(is_near(loss, g->loss, TOLERANCE(1e-14, 2e-6), TOLERANCE(1e-13, 2e-5)));
    expect_all(t.saved.core.p, g->p, 2 * T * T, "p");
    for (int row = 0; row < 2 * T; row++) {
        double sum = 0;
        for (int j = 0; j < T; j++) sum += (double)t.saved.core.p[row * T + j];
        ck_assert_double_eq_tol(sum, 1, TOLERANCE(0x1p-50, 0x1p-21));
    }
    expect_all(t.out, g->o, T * C, "o");
    expect_all(t.grad[X], g->dx, T * C, "dx");
    expect_all(t.grad[WQ], g->dwq, C * C, "dwq");
    expect_all(t.grad[WK], g->dwk, C * C, "dwk");
    expect_all(t.grad[WV], g->dwv, C * C, "dwv");
    layer_trial_free(&t);
}
END_TEST

START_TEST(the_future_is_exactly_hidden)
{
    const attn_real others[] = {-7, (attn_real)0.25, (attn_real)1e30};
    struct layer_trial t;
    attn_real before[2 * C];

    make(&t, true);
    layer_trial_forward(&t);
    memcpy(before, t.out, sizeof before);
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < T; i++) {
            const attn_real *row = t.saved.core.p + (h * T + i) * T;
            if (i == 0) ck_assert(row[0] == 1);
            expect_zero(row + i + 1, (size_t)(T - 1 - i), "upper triangle");
        }
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < C; c++) t.value[X][2 * C + c] = others[k];
        layer_trial_forward(&t);
        expect_same(t.out, before, 2 * C, "o before what changed");
    }
    layer_trial_free(&t);
}
END_TEST

START_TEST(the_future_gets_no_gradient)
{
    for (int row = 0; row < 2; row++) {
        struct layer_trial t;

        make(&t, true);
        for (int i = 0; i < T * C; i++)
            if (i / C != row) t.dout[i] = 0;
        layer_trial_forward(&t);
        layer_trial_backward(&t);
        expect_zero(t.grad[X] + (row + 1) * C, (size_t)(T - 1 - row) * C, "dx behind the loss");
        for (int i = 0; i <= row; i++) ck_assert(!is_zero(t.grad[X] + i * C, C));
        layer_trial_free(&t);
    }
}
END_TEST

START_TEST(backward_twice_is_exactly_double)
{
    struct layer_trial t;
    attn_real once[TENSORS][C * C];

    make(&t, false);
    layer_trial_forward(&t);
    layer_trial_backward(&t);
    for (int i = 0; i < TENSORS; i++)
        if (t.count[i]) memcpy(once[i], t.grad[i], t.count[i] * sizeof **once);
    layer_trial_backward(&t);
    for (int i = WQ; i <= WV; i++)
        for (size_t j = 0; j < t.count[i]; j++)
            ck_assert_msg(t.grad[i][j] == 2 * once[i][j], "d%s[%zu]", tensor_name[i], j);
    layer_trial_clear(&t);
    layer_trial_backward(&t);
    for (int i = 0; i < TENSORS; i++) expect_same(t.grad[i], once[i], t.count[i], "once more");
    /* One step of gradient descent from the known weights. */
    ck_assert(is_near((double)(t.value[WQ][0] - (attn_real)0.1 * t.grad[WQ][0]),
                      -0.75 + 0.1 * 0.03038672319395014, TOLERANCE(1e-15, 1e-7), 0));
    layer_trial_free(&t);
}
END_TEST

/* Identity projections: x is query, key and value at once. */
START_TEST(self_attention_sums_three_paths)
{
    const double eye[] = {1, 0, 0, 1}, x[] = {1, 0, 0.5, -0.5}, g[] = {1, 2, -1, 1};
    const double dq[] = {0.1285241304036695, 0.1285241304036695, 0, 0};
    const double dk[] = {0.25704826080733901, 0, -0.25704826080733901, 0};
    const double dv[] = {0.087479000839609769, 1.6749580016792195, -0.087479000839609769,
                         1.3250419983207805};
    const double dx[] = {0.47305139205061828, 1.803482132082889, -0.34452726164694878,
                         1.3250419983207805};

    for (int cross = 0; cross < 2; cross++) {
        const struct layer_options o = {.cross = cross};
        struct attn_layer layer = {.C = 2, .Cy = 2, .Co = 2};
        double dy[4];
        struct layer_trial t;

        layer.core.n = (struct attn_shape){1, 1, 1, 2, 2, 2, 2};
        layer.core.kind = attn_kinds[0];
        layer_trial_make(&t, &layer, o, 0, 1);
        for (int i = 0; i < 4; i++) {
            t.value[WQ][i] = t.value[WK][i] = t.value[WV][i] = (attn_real)eye[i];
            t.value[X][i] = (attn_real)x[i];
            if (cross) t.value[Y][i] = (attn_real)x[i];
            t.dout[i] = (attn_real)g[i];
            dy[i] = dk[i] + dv[i];
        }
        layer_trial_forward(&t);
        layer_trial_backward(&t);
        expect_near(t.grad[X], cross ? dq : dx, 4, TOLERANCE(1e-14, 1e-6), 0, "dx");
        if (cross) expect_near(t.grad[Y], dy, 4, TOLERANCE(1e-14, 1e-6), 0, "dy");
        layer_trial_free(&t);
    }
}
END_TEST

START_TEST(one_token_attends_to_itself)
{
    const struct layer_options plain = {.output = false};
    struct attn_layer layer = {.C = C, .Cy = C, .Co = C};
    struct layer_trial t;

    layer.core.n = (struct attn_shape){2, 2, 2, 1, 1, 2, 2};
    layer.core.kind = attn_kinds[0];
    layer.core.mask.causal = true;
    layer_trial_make(&t, &layer, plain, 0, 3);
    layer_trial_forward(&t);
    layer_trial_backward(&t);
    for (int i = 0; i < 4; i++) ck_assert(t.saved.core.p[i] == 1);
    expect_same(t.out, t.saved.v, t.nout, "o");
    expect_zero(t.grad[WQ], t.count[WQ], "dwq");
    expect_zero(t.grad[WK], t.count[WK], "dwk");
    layer_trial_free(&t);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "golden", forward_and_all_gradients, 2);
    add_test(suite, "future", the_future_is_exactly_hidden);
    add_test(suite, "future gradient", the_future_gets_no_gradient);
    add_test(suite, "twice", backward_twice_is_exactly_double);
    add_test(suite, "three paths", self_attention_sums_three_paths);
    add_test(suite, "one token", one_token_attends_to_itself);
}
