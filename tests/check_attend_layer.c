/* The whole layer by the program attend. */
#include <math.h>

#include "attend_trial.h"

static const double zeros[64], identity[] = {1, 0, 0, 1};

/* Two heads of width 2 over three tokens of width 4, computed elsewhere to 50 digits. */
static const struct {
    const char *flags;
    double p[18], o[12], dx[12], dwq[16], dwk[16], dwv[16];
} golden[] = {
    {
        "",
        .p = {0.33294986362912348, 0.23586918798322872, 0.4311809483876478, 0.29414823643831745,
              0.40974710385606596, 0.29610465970561659, 0.41002584270080477, 0.26124002368106147,
              0.32873413361813376, 0.14705197100441835, 0.12664776902557922, 0.72630025997000243,
              0.41072611601296649, 0.42833734445328406, 0.16093653953374945, 0.27429900295992181,
              0.2796850642395141, 0.44601593280056409},
        .o = {0.32190913135519961, -0.078852992367437946, -0.41513651510445193,
              -0.093082762988528027, 0.22467169993361871, -0.2911921457377126, 0.16527111963776048,
              0.18326319215973902, 0.30496312515737167, -0.20084712836977541, -0.12808840335520879,
              0.042761023386452573},
        .dx = {-0.0068401158470103233, 0.056666819604865125, -0.53074934542100931,
               -0.42069249399176936, -0.29745991217301204, -0.064498294077235954,
               -0.63148061789592641, -0.40906609881432222, 0.040040444766858078,
               0.11697741210508596, -0.57951030083035183, -0.51365138227112715},
        .dwq = {-0.03038672319395014, 0.02449039800430543, 0.043094524998059836,
                -0.076533564973447346, -0.026402481601250255, -0.011262397865875089,
                0.013286339727101464, 0.00035948555824990528, 0.055170209804518615,
                0.015287406674758571, -0.036574504101537318, 0.034874254165436222,
                -0.0012437526855605406, -0.035463362926995511, -0.016340893293815987,
                0.0095109999463753116},
        .dwk = {0.085597848390151024, -2.9948412445790853e-5, 0.053000490503906133,
                -0.036679872886198215, -0.048936065601927604, -0.020084292245882761,
                -0.045960091188147997, 0.037502061547819911, 0.085597848390151024,
                -2.9948412445790853e-5, 0.053000490503906133, -0.036679872886198215,
                -0.1833089139411171, 0.10057120329164276, -0.03520199657879068,
                -0.0041109433081084778},
        .dwv = {-0.23220518859506787, -0.57017470430559649, 0.53471911715141658,
                0.34714155918037527, -0.064555304914199967, 0.18340261049121968,
                -0.14096206936488775, -0.073406696445147952, 0.16779481140493213,
                0.029825295694403506, -0.065280882848583416, -0.052858440819624727,
                0.15046913421300586, -0.06613953092811593, 0.031214761067355839,
                -0.035340980342803273},
    },
    {
        "--causal",
        .p = {1.0, 0, 0, 0.41788632428692971, 0.58211367571307029, 0, 0.41002584270080477,
              0.26124002368106147, 0.32873413361813376, 1.0, 0, 0, 0.48950542523295475,
              0.51049457476704525, 0, 0.27429900295992181, 0.2796850642395141, 0.44601593280056409},
        .o = {0.43333333333333333, -0.46666666666666667, 0.43333333333333333, 0.43333333333333333,
              0.12287270628636251, -0.68010834776145911, 0.33123441837992428, 0.26316847507765158,
              0.30496312515737167, -0.20084712836977541, -0.12808840335520879,
              0.042761023386452573},
        .dx = {0.76158157294814649, 0.62737786479923684, -0.77737817181853192, -0.91158187996744156,
               -0.5137308842112028, -0.38023155148895256, -0.59012883146554411,
               -0.51160068202501631, -0.34177440308417366, -0.18840923165003604,
               -0.21234957234401187, -0.070062449688877453},
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
                -0.44577580701802677, 0.20596210809564324, -0.10284722329138406,
                0.053346030420977303, 0.68469298094961802, -0.16715452971477188,
                -0.087414672338504596, 0.078898440593742103, -0.52791920299128961,
                0.80596210809564324, -0.048690521850556728, -1.3278890217402637},
    },
};

static void put_golden(const char *x_shape)
{
    put_pattern("x", x_shape, 7, 11, 5);
    put_pattern("wq", "(4, 4)", 5, 13, 8);
    put_pattern("wk", "(4, 4)", 3, 11, 8);
    put_pattern("wv", "(4, 4)", 7, 9, 6);
    put_pattern("g", x_shape, 5, 7, 3);
}

#define LAYER "--x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --heads 2 --dout g.npy "

static void check_golden(int i, bool batch)
{
    const char *shape = batch ? "(1, 3, 4)" : "(3, 4)";
    char arguments[256];

    put_golden(shape);
    snprintf(arguments, sizeof arguments, LAYER "%s --out out", golden[i].flags);
    attend(arguments);
    expect_written("out/p", batch ? "(1, 2, 3, 3)" : "(2, 3, 3)", golden[i].p);
    expect_written("out/o", shape, golden[i].o);
    expect_written("out/dx", shape, golden[i].dx);
    expect_written("out/dwq", "(4, 4)", golden[i].dwq);
    expect_written("out/dwk", "(4, 4)", golden[i].dwk);
    expect_written("out/dwv", "(4, 4)", golden[i].dwv);
}

START_TEST(golden_layer)
{
    check_golden(_i, false);
}
END_TEST

START_TEST(golden_layer_in_a_batch)
{
    check_golden(_i, true);
}
END_TEST

/* o W_O and O^T dout by hand; what W_O sends back must be what the layer without it is given. */
START_TEST(output_weights)
{
    static const double wo[] = {0.5, -1, 2, 0.25, -0.75, 1.5, 1, -0.5},
                        dout[] = {1, -2, 0.5, 3, -1, 0.25};
    double o[6] = {0}, dwo[8] = {0}, back[12] = {0};

    put_golden("(3, 4)");
    for (int t = 0; t < 3; t++)
        for (int c = 0; c < 4; c++)
            for (int j = 0; j < 2; j++) {
                o[2 * t + j] += golden[0].o[4 * t + c] * wo[2 * c + j];
                dwo[2 * c + j] += golden[0].o[4 * t + c] * dout[2 * t + j];
                back[4 * t + c] += dout[2 * t + j] * wo[2 * c + j];
            }
    put_reals("wo", "(4, 2)", wo);
    put_reals("g", "(3, 2)", dout);
    attend(LAYER "--wo wo.npy --out with");
    expect_written("with/o", "(3, 2)", o);
    expect_written("with/dwo", "(4, 2)", dwo);
    put_reals("g", "(3, 4)", back);
    attend(LAYER "--out without");
    expect_same_array("with/dx", "without/dx");
    expect_same_array("with/dwq", "without/dwq");
    expect_same_array("with/dwk", "without/dwk");
    expect_same_array("with/dwv", "without/dwv");
}
END_TEST

/* A bias is a further row of weights for a column of ones in x. */
START_TEST(biases)
{
    static const char *const names[] = {"q", "k", "v"};
    double x[15], w[20], row[4];
    size_t n;

    put_golden("(3, 4)");
    for (int i = 0; i < 15; i++) x[i] = i % 5 == 4 ? 1 : (7 * (i / 5 * 4 + i % 5) % 11 - 5) / 5.0;
    put_reals("x5", "(3, 5)", x);
    for (int i = 0; i < 3; i++) {
        char name[8], wide[8];
        snprintf(name, sizeof name, "w%s", names[i]);
        snprintf(wide, sizeof wide, "w%s5", names[i]);
        for (int j = 0; j < 4; j++) row[j] = (i + 1) * 0.25 - j * 0.5;
        memcpy(w, get_array(name, &n), 16 * sizeof *w);
        memcpy(w + 16, row, sizeof row);
        put_reals(wide, "(5, 4)", w);
        name[0] = 'b';
        put_reals(name, "(4,)", row);
    }
    put_reals("bo", "(4,)", row);
    put_pattern("wo", "(4, 4)", 3, 7, 2);
    attend(LAYER "--bq bq.npy --bk bk.npy --bv bv.npy --out biased");
    attend("--x x5.npy --wq wq5.npy --wk wk5.npy --wv wv5.npy --heads 2 --dout g.npy --out wide");
    expect_same_array("biased/p", "wide/p");
    expect_same_array("biased/o", "wide/o");
    for (int i = 0; i < 3; i++) {
        char bias[16], weights[16];
        snprintf(bias, sizeof bias, "biased/db%s", names[i]);
        snprintf(weights, sizeof weights, "wide/dw%s", names[i]);
        expect_written(bias, "(4,)", get_array(weights, &n) + 16);
    }
    attend(LAYER "--wo wo.npy --bo bo.npy --out both");
    attend(LAYER "--wo wo.npy --out plain");
    for (int i = 0; i < 12; i++)
        ck_assert(is_near(get_array("both/o", &n)[i], get_array("plain/o", &n)[i] + row[i % 4],
                          10 * ABSOLUTE, RELATIVE));
    for (int i = 0; i < 4; i++) {
        const double *g = get_array("g", &n);
        row[i] = g[i] + g[4 + i] + g[8 + i];
    }
    expect_written("both/dbo", "(4,)", row);
}
END_TEST

/* Heads lie side by side in the columns; two of them share a key head. */
START_TEST(grouped_heads)
{
    static const double ones[] = {1, 1, 1, 1};
    static const double o[] = {17.310585786300049, 17.310585786300049, 32.689414213699951,
                               32.689414213699951};

    put_reals("x", "(1, 4)", ones);
    put_reals("y", "(2, 4)", (double[]){0, 1, 10, 30, 1, 0, 20, 40});
    put_reals("wq", "(4, 4)", (double[]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    put_reals("wk", "(4, 2)", (double[]){1, 0, 0, 1, 0, 0, 0, 0});
    put_reals("wv", "(4, 2)", (double[]){0, 0, 0, 0, 1, 0, 0, 1});
    attend("--x x.npy --y y.npy --wq wq.npy --wk wk.npy --wv wv.npy --heads 4 --kv-heads 2 "
           "--out out");
    expect_written("out/o", "(1, 4)", o);
}
END_TEST

#define COMMON                                                                                     \
    " --dout g.npy --causal --mask m.npy --softcap 3 --kind bilinear --kind-weights kind.npy "

/* With W = 1 the layer is attention on x and y as they are. */
START_TEST(cross_attention)
{
    static const double y[] = {1, 1, 0, 2, -1, 0.5};
    double sum[6];
    size_t n;

    put_small();
    put_reals("v", "(3, 2)", y);
    put_reals("x", "(2, 2)", (double[]){1, 0, 0.5, -1});
    put_reals("y", "(3, 2)", y);
    put_reals("w", "(2, 2)", identity);
    put_reals("m", "(2, 3)", (double[]){0.5, -1, 2, 0.25, 0, -0.75});
    put_reals("kind", "(1, 4)", (double[]){0.5, 1, -1, 2});
    attend("--q x.npy --k y.npy --v y.npy" COMMON "--out arrays");
    attend("--x x.npy --y y.npy --wq w.npy --wk w.npy --wv w.npy --heads 1" COMMON "--out layer");
    expect_exactly("layer/dmask", "(2, 3)", get_array("arrays/dmask", &n));
    expect_exactly("layer/dkind-weights", "(1, 4)", get_array("arrays/dkind-weights", &n));
    expect_written("layer/o", "(2, 2)", get_array("arrays/o", &n));
    expect_written("layer/p", "(1, 2, 3)", get_array("arrays/p", &n));
    expect_written("layer/lse", "(1, 2)", get_array("arrays/lse", &n));
    expect_written("layer/dx", "(2, 2)", get_array("arrays/dq", &n));
    for (int i = 0; i < 6; i++)
        sum[i] = get_array("arrays/dk", &n)[i] + get_array("arrays/dv", &n)[i];
    expect_written("layer/dy", "(3, 2)", sum);
}
END_TEST

/* Row t of x, its pairs of columns turned; with `halves` the pair of i is i + D/2. */
static void turn(double *to, const double *x, int T, int D, bool halves)
{
    for (int t = 0; t < T; t++, x += D, to += D)
        for (int i = 0; i < D / 2; i++) {
            const int a = halves ? i : 2 * i, b = halves ? i + D / 2 : 2 * i + 1;
            const double angle = t * pow(10000, -2.0 * i / D);
            to[a] = x[a] * cos(angle) - x[b] * sin(angle);
            to[b] = x[a] * sin(angle) + x[b] * cos(angle);
        }
}

/* With W = 1 the layer is attention on x whose places are put in by hand. */
START_TEST(positions)
{
    static const char *const names[] = {"rope", "rope-half", "sinusoidal", "alibi", "none"};
    double x[20], at[20], bias[25], w[16] = {0};
    char arguments[256];
    size_t n;

    for (int i = 0; i < 20; i++) x[i] = (7 * i % 11 - 5) / 5.0;
    memcpy(at, x, sizeof x);
    memset(bias, 0, sizeof bias);
    for (int i = 0; i < 4; i++) w[5 * i] = 1;
    if (_i < 2) turn(at, x, 5, 4, _i == 1);
    for (int i = 0; _i == 2 && i < 20; i++) {
        const double angle = i / 4 * pow(10000, -(i % 4 / 2 * 2) / 4.0);
        at[i] += i % 2 ? cos(angle) : sin(angle);
    }
    for (int i = 0; _i == 3 && i < 25; i++) bias[i] = -abs(i / 5 - i % 5) / 256.0;
    put_reals("x", "(5, 4)", x);
    put_reals("at", "(5, 4)", at);
    put_reals("m", "(5, 5)", bias);
    put_reals("w", "(4, 4)", w);
    attend("--q at.npy --k at.npy --v x.npy --mask m.npy --out arrays");
    snprintf(arguments, sizeof arguments,
             "--x x.npy --wq w.npy --wk w.npy --wv w.npy --heads 1 --position %s --out layer",
             names[_i]);
    attend(arguments);
    expect_array("layer/o", "(5, 4)", get_array("arrays/o", &n), 10 * ABSOLUTE, RELATIVE);
    expect_array("layer/p", "(1, 5, 5)", get_array("arrays/p", &n), 10 * ABSOLUTE, RELATIVE);
}
END_TEST

START_TEST(a_layer_on_nothing)
{
    put_reals("x", "(0, 3, 2)", zeros);
    put_reals("w", "(2, 2)", identity);
    attend("--x x.npy --wq w.npy --wk w.npy --wv w.npy --heads 2 --dout x.npy --out out");
    expect_exactly("out/o", "(0, 3, 2)", zeros);
    expect_exactly("out/p", "(0, 2, 3, 3)", zeros);
    expect_exactly("out/lse", "(0, 2, 3)", zeros);
    expect_exactly("out/dwq", "(2, 2)", zeros);
}
END_TEST

void add_tests(Suite *suite)
{
    add_loop_test(suite, "golden layer", golden_layer, 2);
    add_loop_test(suite, "golden layer in a batch", golden_layer_in_a_batch, 2);
    add_test(suite, "output weights", output_weights);
    add_test(suite, "biases", biases);
    add_test(suite, "grouped heads", grouped_heads);
    add_test(suite, "cross attention", cross_attention);
    add_loop_test(suite, "positions", positions, 5);
    add_test(suite, "a layer on nothing", a_layer_on_nothing);
}
