/* What is shown, how it is chosen, and its address. */

const state = {position: positions.length - 1, layer: null, head: null, sequence: 0, query: null, key: null,
    all: false, colour: "linear", steps: "linear", loss: "linear", curve: null};
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let views = [], geometry = null, hover = null, pointed = null, player = null, wanted = new Set(), writer = null;

const hasMaps = () => run.sequences > 0 && run.frames.length > 0;
const frameNow = () => run.frames.length ? state.position : -1;
const stepNow = () => positions.length ? positions[state.position] : 0;

function shownHeads() {
    return Array.from({length: LH}, (_, h) => h).filter((h) =>
        (state.layer === null || Math.floor(h / run.heads) === state.layer) && (state.head === null || h % run.heads === state.head));
}

function activeHead() {
    const heads = shownHeads(), h = hover ? hover.h : pointed;
    return heads.includes(h) ? h : heads[0];
}

/* The cell under the pointer, else the chosen one, else one worth looking at. */
function cellNow() {
    if (hover) return hover;
    if (state.query !== null) return {query: state.query, key: state.key};
    const rows = geometry ? geometry.rows : [], right = run.right[state.sequence] || [];
    const query = rows.find((i) => right[i].length);
    if (query !== undefined) return {query, key: right[query][0]};
    return {query: rows.length ? rows[rows.length - 1] : null, key: null};
}

/* ---- address ---- */

function readAddress() {
    const words = new Map(location.hash.slice(1).split("&").map((part) => {
        const at = part.indexOf("=");
        return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    }));
    const whole = (name, below) => /^\d{1,9}$/.test(words.get(name) || "") && Number(words.get(name)) < below ? Number(words.get(name)) : null;
    const oneOf = (name, list) => list.includes(words.get(name)) ? words.get(name) : list[0];
    const step = whole("step", Infinity);

    state.position = step === null ? positions.length - 1 : nearest(positions, step);
    state.layer = whole("layer", run.layers);
    state.head = whole("head", run.heads);
    state.sequence = whole("example", run.sequences) || 0;
    state.query = whole("query", run.sequences ? run.T : 0);
    state.key = state.query === null ? null : whole("key", run.T);
    state.all = words.get("rows") === "all" || (state.query !== null && !run.counted[state.sequence][state.query]);
    state.colour = oneOf("colour", ["linear", "root", "largest"]);
    state.steps = oneOf("steps", ["linear", "log"]);
    state.loss = oneOf("loss", ["linear", "log"]);
    state.curve = curveNames().includes(words.get("curve")) ? words.get("curve") : firstCurve();
    hover = null;
}

function addressNow() {
    const words = [];
    const put = (name, value, usual) => { if (value !== null && value !== usual) words.push(name + "=" + value); };
    if (positions.length) put("step", stepNow());
    put("layer", state.layer);
    put("head", state.head);
    put("example", state.sequence, 0);
    put("query", state.query);
    put("key", state.key);
    put("rows", state.all ? "all" : null);
    put("colour", state.colour, "linear");
    put("steps", state.steps, "linear");
    put("loss", state.loss, "linear");
    put("curve", state.curve, firstCurve());
    return "#" + words.join("&");
}

/* A little later: browsers refuse an address that changes too often. */
function writeAddress() {
    clearTimeout(writer);
    writer = setTimeout(() => {
        if (!player && location.hash !== addressNow()) history.replaceState(null, "", addressNow());
    }, 150);
}

/* ---- drawing, once a frame of the screen ---- */

function redraw(...what) {
    if (!wanted.size) requestAnimationFrame(drawWanted);
    what.forEach((one) => wanted.add(one));
}

function drawWanted() {
    const what = wanted;
    wanted = new Set();
    if (what.has("layout")) arrange();
    if (what.has("maps")) drawMaps();
    if (what.has("charts")) drawCharts();
    else if (what.has("cell")) drawCellChart();
    if (what.has("maps")) charts.forEach(({chart}) => chart.goTo(stepNow()));
}

function canvasOf(h) {
    const canvas = make("canvas", {tabindex: "0", role: "application", "aria-roledescription": "attention map",
        "aria-label": headName(h) + ", attention map; arrows choose query and key"});
    const point = (event) => {
        const box = canvas.getBoundingClientRect(), cell = cellAt(geometry, event.clientX - box.left, event.clientY - box.top);
        const down = event.type === "pointerdown" || event.buttons & 1;
        if (down && cell) choose(h, cell.query, cell.key);
        else if (!down && event.pointerType === "mouse") {
            hover = cell && {h, ...cell};
            redraw("maps", "cell");
        }
    };
    canvas.addEventListener("pointerdown", point);
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerleave", () => {
        if (!hover) return;
        hover = null;
        redraw("maps", "cell");
    });
    canvas.addEventListener("focus", () => { pointed = h; redraw("maps"); });
    return canvas;
}

/* Beside the panel where there is room for both. */
function widthForMaps() {
    const width = $("look").clientWidth;
    return matchMedia("(max-width: 900px)").matches ? width : width - 344;
}

function arrange() {
    const heads = shownHeads();
    $("look").hidden = !hasMaps();
    if (!hasMaps()) return;
    const x = example(state.sequence);
    geometry = layOut(x, state.all, widthForMaps(), heads.length, Math.max(devicePixelRatio || 1, 1));
    if (views.map((v) => v.h).join() !== heads.join()) {
        views = heads.map((h) => ({h, canvas: canvasOf(h), says: make("span", {class: "quiet"})}));
        $("maps").replaceChildren(...views.map((v) => make("figure", {class: "map"},
            make("figcaption", {}, make("span", {class: "name"}, headName(v.h)), " ", v.says), v.canvas)));
    }
    for (const v of views) v.canvas.parentElement.style.width = geometry.width + "px";
}

function drawMaps() {
    const frame = frameNow(), heads = shownHeads();
    fillControls();
    fillMeasures(frame, heads);
    if (!hasMaps()) return;
    const x = example(state.sequence), cell = cellNow();
    const largest = state.colour === "largest" ? largestWeight(geometry, x, frame, heads) : 1;
    for (const v of views) {
        const entropy = measure("entropy", v.h, frame), mass = measure("target_mass", v.h, frame);
        const top = measure("argmax_accuracy", v.h, frame);
        v.says.textContent = run.coefficients ? (top === null ? "" : "largest right at " + short(rounded(100 * top)) + " %")
            : "entropy " + short(rounded(entropy)) + (mass === null ? "" : " \u00b7 target mass " + short(rounded(mass)));
        drawMap(v.canvas, geometry, x, frame, v.h, state.colour, largest, cell);
    }
    fillLegend(largest);
    fillPanel(x, frame, heads, activeHead(), cell);
}

function fillLegend(largest) {
    const stops = viridis.map((c) => "#" + c.toString(16).padStart(6, "0")).join(",");
    const strip = make("div", {class: "ramp"});
    strip.style.background = "linear-gradient(to right," + stops + ")";
    const values = state.colour === "root" ? [0, 0.01, 0.1, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1].map((v) => v * (state.colour === "largest" ? largest : 1));
    const ticks = values.map((v) => {
        const tick = make("span", {}, String(Number((v * run.full).toPrecision(2))));
        tick.style.left = 100 * shade(v, state.colour, largest) + "%";
        return tick;
    });
    $("legend").replaceChildren(make("span", {class: "quiet"}, run.coefficients ? "|weight|" : "weight"), make("div", {class: "scale"}, strip, ...ticks),
        ...(isMarked() ? [make("span", {class: "quiet"}, make("span", {class: "box"}), " right key")] : []));
}

const isMarked = () => (run.right[state.sequence] || []).some((keys) => keys.length);

function fillControls() {
    $("slider").value = state.position;
    $("slider").setAttribute("aria-valuetext", "step " + stepNow());
    if (document.activeElement !== $("step")) $("step").value = stepNow();
    $("place").textContent = positions.length ? state.position + 1 + " of " + positions.length : "nothing recorded yet";
    $("sequence").value = state.sequence;
    $("rows").checked = state.all;
    $("colour").value = state.colour;
    for (const [id, value] of [["layers", state.layer], ["heads", state.head], ["steps", state.steps], ["loss", state.loss]])
        for (const button of $(id).querySelectorAll("button"))
            button.setAttribute("aria-pressed", String(button.dataset.value === String(value)));
    if (geometry) $("rows-label").hidden = !run.counted.some((list) => list.some((c) => !c) && list.some((c) => c));
}

/* ---- changes ---- */

function goTo(position) {
    const last = positions.length - 1;
    state.position = Math.min(Math.max(position, Math.min(0, last)), last);
    redraw("maps");
    writeAddress();
}

function change(values, ...what) {
    Object.assign(state, values);
    if (state.query !== null && geometry && !state.all && !run.counted[state.sequence][state.query])
        state.query = state.key = null;
    redraw("maps", ...what);
    writeAddress();
}

function choose(h, query, key) {
    pointed = h;
    hover = null;
    change({query, key}, "cell");
}

function chooseHead(head) {
    if (head >= run.heads) return;
    change({head: state.head === head || run.heads === 1 ? null : head}, "layout", "charts");
}

function chooseLayer(layer) {
    if (layer >= run.layers) return;
    change({layer: state.layer === layer || run.layers === 1 ? null : layer}, "layout", "charts");
}

/* The chosen cell by that many rows and columns on. */
function moveCell(h, rows, columns) {
    const from = cellNow(), r = geometry.rows.indexOf(from.query), last = geometry.rows.length - 1;
    if (last < 0 || !geometry.keys) return;
    const query = geometry.rows[Math.min(Math.max(r + rows, 0), last)];
    const key = from.key === null ? geometry.lo : Math.min(Math.max(from.key + columns, geometry.lo), geometry.hi - 1);
    choose(h, query, key);
    $("said").textContent = describeCell(example(state.sequence), frameNow(), h, {query, key});
}

/* ---- playing ---- */

function stop() {
    clearInterval(player);
    player = null;
    showPlaying();
    writeAddress();
}

function play() {
    if (player || positions.length < 2) return;
    if (state.position === positions.length - 1) goTo(0);
    player = setInterval(() => {
        if (state.position + 1 >= positions.length) stop();
        else goTo(state.position + 1);
    }, calm.matches ? 600 : Math.min(Math.max(8000 / positions.length, 40), 250));
    showPlaying();
}

/* To a step by hand: what played, stops. */
function seek(position) {
    if (player) stop();
    goTo(position);
}

function showPlaying() {
    $("play").setAttribute("aria-label", player ? "Stop" : "Play");
    $("play").querySelector("path").setAttribute("d", player ? "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z" : "M4 2.5v11l9-5.5z");
}
