#include "attn/settings.h"

#include <stddef.h>

#include "attn/activation.h"
#include "attn/position.h"
#include "attn/scaling.h"
#include "attn/schedule.h"

static const char *task_name(int i)
{
    return attn_tasks[i] ? attn_tasks[i]->name : NULL;
}

static const char *kind_name(int i)
{
    return attn_kinds[i] ? attn_kind_name(attn_kinds[i]) : NULL;
}

static const char *position_name(int i)
{
    return attn_positions[i] ? attn_positions[i]->name : NULL;
}

static const char *scaling_name(int i)
{
    return attn_scalings[i] ? attn_scalings[i]->name : NULL;
}

static const char *activation_name(int i)
{
    return attn_activations[i] ? attn_activations[i]->name : NULL;
}

static const char *optimizer_name(int i)
{
    return attn_optimizers[i] ? attn_optimizers[i]->name : NULL;
}

static const char *schedule_name(int i)
{
    return attn_schedules[i] ? attn_schedules[i]->name : NULL;
}

#define AT(member) offsetof(struct attn_settings, member)

enum { MANY = 1 << 30, WIDE = 1 << 20 };
static const char TRAINING[] = "Training", MODEL[] = "Model", TASK[] = "Task";
static const double HUGE_NUMBER = 1e300, LARGEST_LONG = 9007199254740992;

const struct attn_setting attn_setting_table[] = {
    {"task", "NAME", TASK, "what to learn", "recall", ATTN_SETTING_NAME, AT(task), 0, 0, task_name},
    {"pairs", "N", TASK, "recall: of key and value; regression, kernel: of input and value", "8",
     ATTN_SETTING_INTEGER, AT(options.pairs), 1, WIDE, NULL},
    {"keys", "N", TASK, "recall: different keys", "32", ATTN_SETTING_INTEGER, AT(options.keys), 1,
     WIDE, NULL},
    {"values", "N", TASK, "recall: different values", "16", ATTN_SETTING_INTEGER,
     AT(options.values), 1, WIDE, NULL},
    {"queries", "N", TASK, "recall, kernel: queries; recall, 0: as many as pairs", "0",
     ATTN_SETTING_INTEGER, AT(options.queries), 0, WIDE, NULL},
    {"length", "N", TASK,
     "other tasks: tokens in a sequence; window-sum, first, max: numbers, bits, items", "16",
     ATTN_SETTING_INTEGER, AT(options.length), 1, WIDE, NULL},
    {"symbols", "N", TASK, "different tokens; window-sum: largest number; max: classes", "10",
     ATTN_SETTING_INTEGER, AT(options.symbols), 1, WIDE, NULL},
    {"eval-length", "N", TASK, "first, max: length in the evaluation set, 0: as length", "0",
     ATTN_SETTING_INTEGER, AT(options.eval_length), 0, WIDE, NULL},
    {"window", "N", TASK, "window-sum: numbers in a sum", "2", ATTN_SETTING_INTEGER,
     AT(options.window), 1, WIDE, NULL},
    {"whole", "YES|NO", TASK, "window-sum: the numbers are targets too, in training", "no",
     ATTN_SETTING_YES_NO, AT(options.whole), 0, 0, NULL},
    {"triggers", "N", TASK, "backcopy: symbols behind which a token is copied", "3",
     ATTN_SETTING_INTEGER, AT(options.triggers), 0, WIDE, NULL},
    {"begin", "YES|NO", TASK, "backcopy: a begin token in front", "yes", ATTN_SETTING_YES_NO,
     AT(options.begin), 0, 0, NULL},
    {"dimension", "N", TASK, "regression: numbers in an input", "5", ATTN_SETTING_INTEGER,
     AT(options.dimension), 1, WIDE, NULL},
    {"local", "YES|NO", TASK, "margin: the last token is worth 0", "no", ATTN_SETTING_YES_NO,
     AT(options.local), 0, 0, NULL},
    {"noise", "X", TASK, "regression, kernel: standard deviation, on the values given", "0",
     ATTN_SETTING_NUMBER, AT(options.noise), 0, HUGE_NUMBER, NULL},
    {"data", "FILE", TASK, "text: a UTF-8 file, or the name of one in data/", "", ATTN_SETTING_TEXT,
     AT(data), 0, 0, NULL},
    {"words", "YES|NO", TASK, "text: a token per word, not per character", "no",
     ATTN_SETTING_YES_NO, AT(options.words), 0, 0, NULL},
    {"vocabulary", "N", TASK, "text: at most so many different tokens, 0: all", "0",
     ATTN_SETTING_INTEGER, AT(options.vocabulary), 0, WIDE, NULL},

    {"seed", "N", TRAINING, "of weights, batches and samples", "1", ATTN_SETTING_LONG, AT(seed), 0,
     LARGEST_LONG, NULL},
    {"steps", "N", TRAINING, "optimizer steps, 0: evaluates what it starts from", "300",
     ATTN_SETTING_INTEGER, AT(steps), 0, MANY, NULL},
    {"weights", "FILE", TRAINING, "to start from: a checkpoint.safetensors of such a model", "",
     ATTN_SETTING_TEXT, AT(weights), 0, 0, NULL},
    {"batch", "N", TRAINING, "sequences in a batch", "64", ATTN_SETTING_INTEGER, AT(batch), 1, WIDE,
     NULL},
    {"optimizer", "NAME", TRAINING, "how a gradient becomes a step", "adam", ATTN_SETTING_NAME,
     AT(optimizer), 0, 0, optimizer_name},
    {"lr", "X", TRAINING, "learning rate", "0.003", ATTN_SETTING_NUMBER, AT(lr), 0, HUGE_NUMBER,
     NULL},
    {"schedule", "NAME", TRAINING, "of the learning rate after warm-up", "constant",
     ATTN_SETTING_NAME, AT(schedule), 0, 0, schedule_name},
    {"warmup", "STEPS", TRAINING, "in which the rate rises to its full size", "0",
     ATTN_SETTING_INTEGER, AT(warmup), 0, MANY, NULL},
    {"clip", "X", TRAINING, "largest global gradient norm, 0: no clipping", "0",
     ATTN_SETTING_NUMBER, AT(clip), 0, HUGE_NUMBER, NULL},
    {"momentum", "X", TRAINING, "of momentum and nesterov", "0.9", ATTN_SETTING_NUMBER,
     AT(optimize.momentum), 0, 1, NULL},
    {"beta1", "X", TRAINING, "of adam: decay of the mean", "0.9", ATTN_SETTING_NUMBER,
     AT(optimize.beta1), 0, 0.9999999, NULL},
    {"beta2", "X", TRAINING, "of adam: decay of the mean square", "0.999", ATTN_SETTING_NUMBER,
     AT(optimize.beta2), 0, 0.9999999, NULL},
    {"epsilon", "X", TRAINING, "of adam: added to the root; of ngd: to the norm", "1e-08",
     ATTN_SETTING_NUMBER, AT(optimize.epsilon), 1e-30, 1, NULL},
    {"weight-decay", "X", TRAINING, "adamw: times lr off the weights; others: in the gradient", "0",
     ATTN_SETTING_NUMBER, AT(optimize.weight_decay), 0, HUGE_NUMBER, NULL},
    {"log-every", "STEPS", TRAINING, "steps between rows of metrics.tsv", "10",
     ATTN_SETTING_INTEGER, AT(log_every), 1, MANY, NULL},
    {"eval-size", "N", TRAINING, "sequences in the evaluation set", "256", ATTN_SETTING_INTEGER,
     AT(eval_size), 1, WIDE, NULL},
    {"probes", "N", TRAINING, "sequences whose attention is kept", "4", ATTN_SETTING_INTEGER,
     AT(probes), 1, 1024, NULL},
    {"map-every", "STEPS", TRAINING, "between maps of them, 0: only the last, -1: ever rarer", "-1",
     ATTN_SETTING_INTEGER, AT(map_every), -1, MANY, NULL},

    {"layers", "N", MODEL, "attention layers, 0: a table of logits by token, with no more settings",
     "1", ATTN_SETTING_INTEGER, AT(model.layers), 0, 1024, NULL},
    {"width", "N", MODEL, "d_model", "64", ATTN_SETTING_INTEGER, AT(model.width), 1, WIDE, NULL},
    {"heads", "N", MODEL, "query heads", "1", ATTN_SETTING_INTEGER, AT(model.heads), 1, WIDE, NULL},
    {"kv-heads", "N", MODEL, "key and value heads, 0: as many as heads", "0", ATTN_SETTING_INTEGER,
     AT(model.kv_heads), 0, WIDE, NULL},
    {"head-width", "N", MODEL, "d_k, 0: width / heads", "0", ATTN_SETTING_INTEGER,
     AT(model.head_width), 0, WIDE, NULL},
    {"kind", "NAME", MODEL, "how a query scores a key", "dot", ATTN_SETTING_NAME, AT(model.kind), 0,
     0, kind_name},
    {"position", "NAME", MODEL, "how a token's place enters", "none", ATTN_SETTING_NAME,
     AT(model.position), 0, 0, position_name},
    {"position-in-qk", "YES|NO", MODEL, "learned, sinusoidal: into Q and K only", "no",
     ATTN_SETTING_YES_NO, AT(model.position_in_qk), 0, 0, NULL},
    {"causal", "YES|NO", MODEL, "a query sees no later key", "no", ATTN_SETTING_YES_NO,
     AT(model.causal), 0, 0, NULL},
    {"scale", "X", MODEL, "of the scores, 0: the kind's own", "0", ATTN_SETTING_NUMBER,
     AT(model.scale), -HUGE_NUMBER, HUGE_NUMBER, NULL},
    {"scale-by", "NAME", MODEL, "how the scale goes by the head's width", "own", ATTN_SETTING_NAME,
     AT(model.scale_by), 0, 0, scaling_name},
    {"log-length", "YES|NO", MODEL, "scores times ln n too, of a query that may see n keys", "no",
     ATTN_SETTING_YES_NO, AT(model.log_length), 0, 0, NULL},
    {"adaptive", "YES|NO", MODEL, "evaluated at a temperature by the entropy of each row", "no",
     ATTN_SETTING_YES_NO, AT(adaptive), 0, 0, NULL},
    {"softcap", "X", MODEL, "soft cap of the scores, 0: none", "0", ATTN_SETTING_NUMBER,
     AT(model.softcap), 0, HUGE_NUMBER, NULL},
    {"qk-norm", "YES|NO", MODEL, "each head's queries and keys to unit size, times gains", "no",
     ATTN_SETTING_YES_NO, AT(model.qk_norm), 0, 0, NULL},
    {"tied", "YES|NO", MODEL, "W_Q = W_K", "no", ATTN_SETTING_YES_NO, AT(model.tied), 0, 0, NULL},
    {"output", "YES|NO", MODEL, "output projection W_O", "yes", ATTN_SETTING_YES_NO,
     AT(model.output), 0, 0, NULL},
    {"bias", "YES|NO", MODEL, "biases in projections, MLP and readout", "no", ATTN_SETTING_YES_NO,
     AT(model.bias), 0, 0, NULL},
    {"residual", "YES|NO", MODEL, "add each branch to its input", "no", ATTN_SETTING_YES_NO,
     AT(model.residual), 0, 0, NULL},
    {"norm", "YES|NO", MODEL, "layer norm before each branch and the readout", "no",
     ATTN_SETTING_YES_NO, AT(model.norm), 0, 0, NULL},
    {"mlp", "N", MODEL, "hidden width of the MLP, 0: none", "0", ATTN_SETTING_INTEGER,
     AT(model.mlp), 0, WIDE, NULL},
    {"activation", "NAME", MODEL, "of the MLP", "gelu", ATTN_SETTING_NAME, AT(model.activation), 0,
     0, activation_name},
    {"init", "X", MODEL, "weights start as N(0, init^2 / fan-in)", "1", ATTN_SETTING_NUMBER,
     AT(model.init), 1e-30, HUGE_NUMBER, NULL},
    {"embedding-init", "X", MODEL, "embeddings and learned positions start as N(0, X^2)", "1",
     ATTN_SETTING_NUMBER, AT(model.embedding_init), 1e-30, HUGE_NUMBER, NULL},
    {NULL, NULL, NULL, NULL, NULL, ATTN_SETTING_TEXT, 0, 0, 0, NULL},
};
#undef AT
