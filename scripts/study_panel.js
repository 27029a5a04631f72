/* What stands in words and numbers beside the maps. `state` is that of study_page.js. */

const lineColours = Array.from({length: 8}, (_, i) => "var(--line" + i + ")");
const dashes = ["none", "6 3", "2 3", "8 3 2 3"];

function lineStyle(h) {
    return {colour: lineColours[h % 8], dash: dashes[Math.floor(h / 8) % 4]};
}

/* ---- the head of the page ---- */

function fillHeader() {
    const setting = (name) => pairOf(run.settings, name), result = (name) => pairOf(run.result, name);
    const numeric = (name) => result(name) === null || result(name) === "null" ? null : Number(result(name));
    const size = run.layers + (run.layers > 1 ? " layers, " : " layer, ") + run.heads + (run.heads > 1 ? " heads" : " head");
    const logged = metric("step") || [], parameters = numeric("parameters");
    const facts = [setting("task"), setting("seed") === null ? null : "seed " + setting("seed"), size,
        parameters === null ? null : parameters.toLocaleString("en").replace(/,/g, "\u2009") + " parameters",
        result("status") === "done" ? (result("steps") + " steps") : result("status") ? result("status") + " at step " + result("steps")
            : "not finished: " + (logged.length ? "step " + logged[logged.length - 1] + " of " + setting("steps") : "nothing logged yet")];
    const final = (name) => numeric(name) !== null ? numeric(name) : (metric(name) || [null]).slice(-1)[0];
    const figures = [["held-out loss", short(final("eval_loss"))], ["accuracy", short(final("accuracy"))]];

    document.title = run.name + " \u2013 attention";
    $("name").textContent = visibleText(run.name);
    $("facts").textContent = facts.filter((f) => f !== null).join(" \u00b7 ");
    if (final("target_mass") !== null) figures.push(["target mass", short(final("target_mass"))]);
    if (run.phase.half !== null) figures.push(["target mass one half", "step " + Math.round(run.phase.half)]);
    if (run.phase.fall !== null) figures.push(["loss fell fastest", "step " + Math.round(run.phase.fall)]);
    $("figures").replaceChildren(...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
    $("settings").replaceChildren(...[...run.settings, ...run.result.map(([name, text]) => ["result: " + name, text])]
        .flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, make("bdi", {}, visibleText(text)))]));
}

/* What the diagnosis says; that it says nothing of a run that logged something is news too. */
function fillFindings() {
    const tell = (f) => make("li", {class: f.illness ? "illness" : ""}, make("strong", {}, (f.illness ? "" : "Remark: ") + titleOf(f.name.replace(/-/g, "_"))),
        f.layer < 0 ? "" : " (" + headName(f.layer * run.heads + f.head) + ")", ": ", make("bdi", {}, visibleText(f.text)));
    const fine = run.metrics.of && !run.findings.some((f) => f.illness) ? [make("li", {class: "fine"}, "No illness found.")] : [];
    $("findings").replaceChildren(...fine, ...run.findings.map(tell));
}

function fillNotes() {
    const say = (text) => make("p", {}, text);
    const cut = (shown, of, what) => shown < of ? [say("Of " + of + " " + what + " " + shown + " are shown here, evenly chosen.")] : [];
    const rows = metric("step") || [];
    $("notes").replaceChildren(
        say("A row of a map is a query, a column a key; the colour is " + (run.coefficients ? "the size of the query's weight for the key, which may be of any sign" : "how much of its attention the query gives to the key, and each row adds up to one") + ". Boxes in red mark the right keys, where the task has any. Keys that a query may not see have no colour."),
        ...(run.sequences ? [say("Weights are kept with " + run.digits + " decimals. What is said of a row is computed from these; the measures of a step come from the recorded weights themselves.")] : []),
        say("The curves of loss, accuracy and heads are of the whole evaluation set (metrics.tsv, heads.tsv); the maps and the measures of a step are of the few recorded examples (attention.npy, probe.tsv). Entropy is in nats: 0 is one key, ln n all n keys alike. Read it beside the target mass, which is what lies on the right keys: attention may well be sharp on a wrong one."),
        ...cut(run.sequences, run.sequences_of, "examples"), ...cut(run.frames.length, run.frames_of, "recorded steps"),
        ...cut(rows.length, run.metrics.of, "logged rows"),
        say("The address of this page keeps what is shown: copy it to show somebody the same. Made by attn " + run.version + "."));
}

/* ---- the chosen query ---- */

function bar(w, h) {
    const fill = make("span", {class: "fill"});
    fill.style.width = 100 * Math.min(Math.max(w / unit, 0), 1) + "%";
    if (h !== undefined) fill.style.background = lineColours[h % 8];
    return make("span", {class: "bar", "aria-hidden": "true"}, fill);
}

function tokenName(sequence, i) {
    return make("bdi", {class: "token"}, visible(run.tokens[sequence][i]));
}

/* The weight of the chosen key in each head that is shown. */
function headRows(x, frame, heads, cell) {
    return heads.map((h) => {
        const w = weightAt(x, frame, h, cell.query, cell.key);
        return make("tr", {}, make("th", {scope: "row"}, headName(h)), make("td", {}, bar(w, h)),
            make("td", {class: "number"}, w < 0 ? "not seen" : weightText(w, run.digits)));
    });
}

/* The keys with the largest weights, the chosen and the right ones among them. */
function keyRows(x, frame, h, cell) {
    const span = x.span[cell.query], right = run.right[x.sequence][cell.query], keys = [];
    for (let j = span[0]; j < span[1]; j++) keys.push([weightAt(x, frame, h, cell.query, j), j]);
    keys.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const shown = keys.filter(([, j], n) => n < 8 || j === cell.key || right.includes(j));
    const rows = shown.slice(0, 24).map(([w, j]) => make("tr", {class: j === cell.key ? "chosen" : ""},
        make("th", {scope: "row"}, make("div", {}, make("span", {class: "index"}, String(j)), tokenName(x.sequence, j),
            right.includes(j) ? make("span", {class: "right", title: "a right key"}, "right") : "")),
        make("td", {}, bar(w, h)), make("td", {class: "number"}, weightText(w, Math.min(run.digits, 4)))));
    if (shown.length < keys.length)
        rows.push(make("tr", {class: "quiet"}, make("th", {scope: "row"}, keys.length - rows.length + " more"), make("td", {}), make("td", {})));
    return rows;
}

function describeCell(x, frame, h, cell) {
    const w = cell.key === null ? -1 : weightAt(x, frame, h, cell.query, cell.key);
    return headName(h) + ", query " + cell.query + " " + visible(run.tokens[x.sequence][cell.query]) +
        (cell.key === null ? "" : ", key " + cell.key + " " + visible(run.tokens[x.sequence][cell.key]) + ": " +
            (w < 0 ? "not seen" : weightText(w, run.digits)) + (run.right[x.sequence][cell.query].includes(cell.key) ? ", a right key" : ""));
}

function fillPanel(x, frame, heads, h, cell) {
    if (cell.query === null) {
        $("panel").replaceChildren(make("p", {class: "quiet"}, "No query is shown."));
        return;
    }
    const facts = rowFacts(x, frame, h, cell.query), parts = [];
    parts.push(make("h2", {}, make("span", {class: "quiet"}, "query " + cell.query + " "), tokenName(x.sequence, cell.query)));
    if (cell.key !== null) {
        const right = run.right[x.sequence][cell.query].includes(cell.key);
        parts.push(make("p", {class: "cell"}, make("span", {class: "quiet"}, "gives key " + cell.key + " "), tokenName(x.sequence, cell.key),
            right ? make("span", {class: "right"}, "right") : ""));
        parts.push(make("table", {id: "cell-heads"}, make("tbody", {}, ...headRows(x, frame, heads, cell))));
    }
    parts.push(make("h3", {}, "Where it looks" + (LH > 1 ? ", " + headName(h) : "")));
    if (!facts.keys) parts.push(make("p", {class: "quiet"}, "It sees no key."));
    else parts.push(make("p", {class: "quiet facts"}, (run.coefficients ? facts.keys + " keys" : "entropy " + short(rounded(facts.entropy)) + " nats, " +
        (facts.entropy === null ? "\u2013" : Math.exp(facts.entropy).toFixed(2)) + " of " + facts.keys + " keys") +
        (run.right[x.sequence][cell.query].length ? ", " + short(facts.right === null ? null : rounded(facts.right)) + " on right ones" : "")));
    parts.push(make("table", {id: "cell-keys"}, make("tbody", {}, ...keyRows(x, frame, h, cell))));
    $("panel").replaceChildren(...parts);
}

/* ---- the table of a step ---- */

function fillMeasures(frame, heads) {
    const rows = run.measures.filter((m) => heads.some((h) => isFiniteAnywhere(m.values[h])));
    $("measures").hidden = frame < 0 || !rows.length;
    if ($("measures").hidden) return;
    $("measured").textContent = run.frames[frame];
    $("table").replaceChildren(
        make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "measure"), ...heads.map((h) => make("th", {scope: "col", class: "number"}, headName(h))), make("th", {scope: "col"}, "which is"))),
        make("tbody", {}, ...rows.map((m) => make("tr", {}, make("th", {scope: "row"}, titleOf(m.name)),
            ...heads.map((h) => make("td", {class: "number"}, short(m.values[h][frame]))), make("td", {class: "quiet"}, m.says)))));
}

function measuresText(frame, heads) {
    const cell = (v) => v === null ? "nan" : String(v);
    return [["step", "layer", "head", ...run.measures.map((m) => m.name)].join("\t"),
        ...heads.map((h) => [run.frames[frame], Math.floor(h / run.heads), h % run.heads, ...run.measures.map((m) => cell(m.values[h][frame]))].join("\t"))].join("\n") + "\n";
}

/* The maps that are shown, one below the other: a row a query, a column a key. */
function mapsText(x, frame, heads, g) {
    const keys = Array.from({length: g.keys}, (_, j) => g.lo + j), name = (i) => plain(run.tokens[x.sequence][i]);
    const lines = [["step", "example", "layer", "head", "query", "token", ...keys.map((j) => j + " " + name(j))].join("\t")];
    for (const h of heads)
        for (const i of g.rows)
            lines.push([run.frames[frame], x.sequence, Math.floor(h / run.heads), h % run.heads, i, name(i),
                ...keys.map((j) => weightText(weightAt(x, frame, h, i, j), run.digits))].join("\t"));
    return lines.join("\n") + "\n";
}
