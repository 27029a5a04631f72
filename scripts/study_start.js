/* Curves of this run, what the keys do, and the start. */

/* ---- curves ---- */

const charts = ["loss", "accuracy", "mass", "entropy", "cell", "other"].map((name) => ({name, chart: new Chart((step) => seek(nearest(positions, step)))}));
const headColumns = run.series.names.filter((name) => !["step", "layer", "head"].includes(name));
const chooser = make("select", {"aria-label": "Which curve", onchange: () => change({curve: chooser.value}, "charts")});

/* Columns of heads.tsv by their names, those of metrics.tsv with "run:" before it. */
function curveNames() {
    return [...headColumns, ...run.metrics.names.filter((name) => name !== "step").map((name) => "run:" + name)];
}

function firstCurve() {
    const names = curveNames();
    return names.includes("sigma_max") ? "sigma_max" : names[0] || null;
}

function headLines(values, steps) {
    const shown = shownHeads();
    return values.map((y, h) => ({name: headName(h), x: steps, y, ...lineStyle(h), quiet: !shown.includes(h)}));
}

function lossSpec() {
    const steps = metric("step") || [], unigram = Number(pairOf(run.result, "unigram_loss") || NaN), lines = [];
    if (isFiniteAnywhere(metric("eval_loss"))) lines.push({name: "held-out", x: steps, y: metric("eval_loss"), colour: lineColours[0]});
    if (metric("loss")) lines.push({name: "training", x: steps, y: metric("loss"), colour: lineColours[1], dash: "2 2"});
    if (unigram > 0 && steps.length) lines.push({name: "unigram", x: [0, lastStep()], y: [unigram, unigram], colour: "var(--quiet)", dash: "6 3"});
    return {title: "Loss", unit: run.nats ? "nats" : "", lines, log: state.loss === "log", zero: true,
        marks: [{step: run.phase.fall, text: "fell fastest"}]};
}

function accuracySpec() {
    const y = metric("accuracy");
    return {title: "Accuracy", lines: isFiniteAnywhere(y) ? [{name: "held-out", x: metric("step"), y, colour: lineColours[0]}] : [], range: [0, 1], none: "not measured"};
}

const isMassKnown = () => (series("target_mass") || []).some(isFiniteAnywhere);

function massSpec() {
    const y = series("target_mass"), known = isMassKnown(), shown = shownHeads();
    return {title: "Target mass", lines: known ? headLines(y, run.series.step) : [], range: [0, 1], low: true,
        marks: known && shown.length <= 3 ? shown.map((h) => ({step: run.sharpening[h].half, text: "half" + (LH > 1 ? ", " + headName(h) : "")})) : []};
}

function entropySpec() {
    const y = series("entropy"), shown = shownHeads();
    return {title: "Entropy", unit: "nats", lines: y ? headLines(y, run.series.step) : [], zero: true,
        none: run.coefficients ? "weights of any sign have none" : undefined,
        marks: y && shown.length <= 3 ? shown.filter((h) => run.sharpening[h].fall_size >= 0.1).map((h) => ({step: run.sharpening[h].fall, text: "sharpens" + (LH > 1 ? ", " + headName(h) : "")})) : []};
}

function cellSpec() {
    const kind = run.coefficients ? "|Weight|" : "Weight";
    const cell = hasMaps() ? cellNow() : {query: null}, spec = {title: kind + " of the chosen key", lines: [], range: [0, run.full], none: "choose a query and a key on a map"};
    if (cell.query === null || cell.key === null) return spec;
    const x = example(state.sequence), token = (i) => visible(run.tokens[state.sequence][i]);
    spec.title = kind + " of \u2068" + token(cell.query) + "\u2069 \u2192 \u2068" + token(cell.key) + "\u2069";
    if (weightAt(x, 0, 0, cell.query, cell.key) < 0) spec.none = "this query does not see that key";
    else spec.lines = shownHeads().map((h) => ({name: headName(h), x: run.frames, ...lineStyle(h),
        y: run.frames.map((_, f) => {
            const w = weightAt(x, f, h, cell.query, cell.key);
            return w > unit ? null : w / unit * run.full;
        })}));
    return spec;
}

function otherSpec() {
    const name = state.curve;
    if (name === null) return {title: "", lines: []};
    if (name.startsWith("run:")) return {title: titleOf(name.slice(4)), lines: [{name: "run", x: metric("step"), y: metric(name.slice(4)), colour: lineColours[0]}]};
    return {title: titleOf(name), lines: headLines(series(name), run.series.step)};
}

const lastStep = () => Math.max(0, ...[positions, metric("step") || [], run.series.step].map((list) => list.length ? list[list.length - 1] : 0));
const specs = {loss: lossSpec, accuracy: accuracySpec, mass: massSpec, entropy: entropySpec, cell: cellSpec, other: otherSpec};
const chartView = () => ({step: stepNow(), last: lastStep(), log: state.steps === "log"});

function drawCharts() {
    chooser.value = state.curve;
    for (const {name, chart} of charts) {
        chart.element.hidden = (name === "cell" && !hasMaps()) || (name === "other" && state.curve === null) || (name === "mass" && !isMassKnown());
        if (!chart.element.hidden) chart.draw(specs[name](), chartView());
    }
}

function drawCellChart() {
    if (hasMaps()) charts.find((one) => one.name === "cell").chart.draw(cellSpec(), chartView());
}

/* ---- keys ---- */

const arrows = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

function keyOnMap(event, canvas) {
    const h = views.find((v) => v.canvas === canvas).h;
    if (!(event.key in arrows)) return false;
    moveCell(h, ...arrows[event.key]);
    return true;
}

function keyAnywhere(event) {
    const ends = {Home: 0, End: positions.length - 1}, ten = event.shiftKey ? 10 : 1;
    if (event.key in ends) seek(ends[event.key]);
    else if (event.key === "ArrowLeft") seek(state.position - ten);
    else if (event.key === "ArrowRight") seek(state.position + ten);
    else if (event.key === " ") player ? stop() : play();
    else if (/^[0-9]$/.test(event.key)) chooseHead(Number(event.key));
    else if (event.shiftKey && /^Digit[0-9]$/.test(event.code)) chooseLayer(Number(event.code.slice(5)));
    else if (event.key === "a") change({head: null, layer: null}, "layout", "charts");
    else if (event.key === "Escape") change({query: null, key: null}, "cell");
    else return false;
    return true;
}

/* Whatever has a use for a key keeps it. */
function onKey(event) {
    const on = event.target instanceof Element ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (on.closest("select, input[type=number], textarea")) return;
    if (on.closest("button, summary, input[type=checkbox]") && event.key === " ") return;
    if (on.closest(".scroll") && /^(Arrow|Home|End)/.test(event.key)) return;
    const canvas = on.closest("canvas");
    if ((canvas && keyOnMap(event, canvas)) || keyAnywhere(event)) event.preventDefault();
}

/* ---- start ---- */

function fillGroup(id, label, choices, pick) {
    $(id).hidden = choices.length < 2;
    $(id).replaceChildren(make("span", {class: "quiet"}, label), ...choices.map(([value, text]) =>
        make("button", {type: "button", "data-value": String(value), "aria-pressed": "false", onclick: () => pick(value)}, text)));
}

function numbered(n) {
    return n < 2 ? [] : [[null, "all"], ...Array.from({length: n}, (_, i) => [i, String(i)])];
}

function fillChoices() {
    const axis = [["linear", "linear"], ["log", "log"]];
    fillGroup("layers", "layer", numbered(run.layers), (layer) => change({layer}, "layout", "charts"));
    fillGroup("heads", "head", numbered(run.heads), (head) => change({head}, "layout", "charts"));
    fillGroup("steps", "steps", axis, (steps) => change({steps}, "charts"));
    fillGroup("loss", "loss", axis, (loss) => change({loss}, "charts"));
    $("sequence").replaceChildren(...Array.from({length: run.sequences}, (_, i) => make("option", {value: i}, String(i))));
    $("sequence-label").hidden = run.sequences < 2;
    for (const id of ["rows-label", "copy"]) $(id).hidden = !hasMaps();
    $("colour").parentElement.hidden = !hasMaps();
    chooser.replaceChildren(
        make("optgroup", {label: "each head (heads.tsv)"}, ...headColumns.map((name) => make("option", {value: name}, titleOf(name)))),
        make("optgroup", {label: "the run (metrics.tsv)"}, ...run.metrics.names.filter((name) => name !== "step").map((name) => make("option", {value: "run:" + name}, titleOf(name)))));
    $("slider").max = Math.max(positions.length - 1, 0);
    for (const id of ["slider", "play", "step"]) $(id).disabled = positions.length < 2;
}

function listen() {
    $("slider").addEventListener("input", () => seek(Number($("slider").value)));
    $("step").addEventListener("change", () => { if ($("step").value !== "") seek(nearest(positions, Number($("step").value))); });
    $("step").addEventListener("blur", () => redraw("maps"));
    $("play").addEventListener("click", () => player ? stop() : play());
    $("sequence").addEventListener("change", () => change({sequence: Number($("sequence").value), query: null, key: null}, "layout", "cell"));
    $("rows").addEventListener("change", () => change({all: $("rows").checked}, "layout", "cell"));
    $("colour").addEventListener("change", () => change({colour: $("colour").value}));
    $("copy").addEventListener("click", () => copyText(mapsText(example(state.sequence), frameNow(), shownHeads(), geometry), $("copy")));
    $("copy-measures").addEventListener("click", () => copyText(measuresText(frameNow(), shownHeads()), $("copy-measures")));
    document.addEventListener("keydown", onKey);
    addEventListener("hashchange", () => { readAddress(); redraw("layout", "maps", "charts"); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw("maps"));
    matchMedia("print").addEventListener("change", () => redraw("maps"));
}

/* When the width changes, and at no other time: heights follow from what is drawn. */
function watchWidth() {
    let width = document.documentElement.clientWidth;
    addEventListener("resize", () => {
        if (document.documentElement.clientWidth === width && geometry && geometry.ratio === devicePixelRatio) return;
        width = document.documentElement.clientWidth;
        redraw("layout", "maps", "charts");
    });
}

function start() {
    charts[5].chart.heading.classList.add("unseen");
    charts[5].chart.heading.after(chooser);
    $("charts").replaceChildren(...charts.map(({chart}) => chart.element));
    fillHeader();
    fillFindings();
    fillNotes();
    fillChoices();
    readAddress();
    arrange();
    drawMaps();
    drawCharts();
    listen();
    watchWidth();
}

start();
