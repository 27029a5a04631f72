/* Maps on canvases: a row a query, a column a key, from dark (0) to bright (1). */

/* Nine points of the viridis map (van der Walt & Smith 2015), as in the terminal. */
const viridis = [0x440154, 0x472c7a, 0x3b518b, 0x2c718e, 0x21908d, 0x27ad81, 0x5cc863, 0xaadc32, 0xfde725];

function colourOf(x) {
    const at = Math.min(Math.max(x, 0), 1) * 8, i = Math.min(Math.floor(at), 7);
    return [16, 8, 0].map((shift) => {
        const a = viridis[i] >> shift & 255, b = viridis[i + 1] >> shift & 255;
        return Math.round(a + (at - i) * (b - a));
    });
}

const ramp = Array.from({length: 256}, (_, i) => colourOf(i / 255));

/* From a weight (0..1) to its place on the ramp. */
function shade(w, colour, largest) {
    return colour === "root" ? Math.sqrt(w) : colour === "largest" ? w / (largest || 1) : w;
}

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

/* What all maps shown have in common: which rows and columns, and where they lie, in CSS
 * pixels. */
function layOut(x, all, width, count, ratio) {
    const rows = [];
    let lo = run.T, hi = 0;
    for (let i = 0; i < run.T; i++)
        if (all || run.counted[x.sequence][i]) {
            rows.push(i);
            if (x.span[i][1] > x.span[i][0]) {
                lo = Math.min(lo, x.span[i][0]);
                hi = Math.max(hi, x.span[i][1]);
            }
        }
    lo = Math.min(lo, hi);
    const g = {rows, lo, hi, keys: hi - lo, font: 12, ratio};
    const pen = document.createElement("canvas").getContext("2d");
    const labels = run.tokens[x.sequence].map(visible);
    pen.font = g.font + "px " + fonts;
    g.pen = pen;
    const widest = (list) => list.reduce((most, i) => Math.max(most, pen.measureText(labels[i]).width), 8);
    const keys = Array.from({length: g.keys}, (_, j) => lo + j);
    g.labels = labels;
    g.left = Math.min(Math.ceil(widest(rows)), 92) + 8;
    g.tall = Math.min(Math.ceil(widest(keys)), 92);
    fitCells(g, width, count);
    g.turned = g.tall > Math.max(g.cell, 14) - 1;
    g.top = (g.turned ? g.tall : g.font) + 8;
    g.width = g.left + g.cell * g.keys + 3;
    g.height = g.top + g.cell * rows.length + 3;
    g.every = Math.max(1, Math.ceil((g.turned ? 13 : Math.max(13, g.tall + 3)) / g.cell));
    g.everyRow = Math.max(1, Math.ceil(13 / g.cell));
    return g;
}

/* As many maps beside each other as give large cells without much to scroll through; cells
 * are whole pixels of the screen. */
function fitCells(g, width, count) {
    const gap = 24, rows = Math.max(g.rows.length, 1);
    let best = 0, size = 1;
    for (let columns = 1; columns <= count; columns++) {
        const room = (width - gap * (columns - 1)) / columns - g.left - 3;
        const cell = Math.min(room / Math.max(g.keys, 1), 560 / rows, 56);
        const high = Math.ceil(count / columns) * (rows * cell + g.tall + 50);
        const good = cell * Math.min(1, 640 / high);
        if (good >= best) best = good, size = cell;
    }
    g.cell = Math.max(Math.floor(size * g.ratio), 1) / g.ratio;
}

function cutLabel(pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    const all = letters(text);
    while (all.length > 1 && pen.measureText(all.join("") + "\u2026").width > room) all.pop();
    return all.join("") + "\u2026";
}

/* The weights of a head as an image, a pixel a cell; where no key is seen nothing. */
function paintWeights(g, x, frame, h, colour, largest) {
    const image = new ImageData(Math.max(g.keys, 1), Math.max(g.rows.length, 1));
    g.rows.forEach((i, r) => {
        for (let j = x.span[i][0]; j < x.span[i][1]; j++) {
            const w = weightAt(x, frame, h, i, j), at = 4 * (r * g.keys + j - g.lo);
            const c = w > unit ? [200, 0, 120] : ramp[Math.round(shade(w / unit, colour, largest) * 255)];
            image.data.set(c, at);
            image.data[at + 3] = 255;
        }
    });
    const small = document.createElement("canvas");
    small.width = image.width;
    small.height = image.height;
    small.getContext("2d").putImageData(image, 0, 0);
    return small;
}

function largestWeight(g, x, frame, heads) {
    let most = 0;
    for (const h of heads)
        for (const i of g.rows)
            for (let j = x.span[i][0]; j < x.span[i][1]; j++) {
                const w = weightAt(x, frame, h, i, j);
                if (w <= unit && w > most) most = w;
            }
    return most / unit;
}

function inkOf(element) {
    const style = getComputedStyle(element), read = (name) => style.getPropertyValue(name).trim();
    return {text: read("--text"), quiet: read("--quiet"), line: read("--line"), right: read("--right"), hidden: read("--hidden")};
}

function drawLabels(pen, g, ink, chosen) {
    const text = (label, bold) => {
        pen.font = (bold ? "600 " : "") + g.font + "px " + fonts;
        pen.fillStyle = bold ? ink.text : ink.quiet;
        return cutLabel(pen, label, 92);
    };
    const at = g.rows.indexOf(chosen.query), row = at >= 0 ? at : -99;
    const shown = (n, every, here) => n === here || (n % every === 0 && Math.abs(n - here) >= every);

    pen.textBaseline = "middle";
    pen.textAlign = "right";
    g.rows.forEach((i, r) => {
        if (!shown(r, g.everyRow, row)) return;
        const label = text(g.labels[i], r === row);
        pen.fillText(label, g.left - 6, g.top + (r + 0.5) * g.cell + 0.5);
    });
    const column = chosen.key === null ? -99 : chosen.key - g.lo;
    for (let j = 0; j < g.keys; j++) {
        if (!shown(j, g.every, column)) continue;
        const label = text(g.labels[g.lo + j], j === column);
        pen.save();
        pen.translate(g.left + (j + 0.5) * g.cell, g.top - 6);
        if (g.turned) pen.rotate(-Math.PI / 2);
        pen.textAlign = g.turned ? "left" : "center";
        pen.textBaseline = g.turned ? "middle" : "alphabetic";
        pen.fillText(label, 0, 0);
        pen.restore();
    }
}

/* Weights in the cells, where they are large enough. */
function drawNumbers(pen, g, x, frame, h, colour, largest) {
    if (g.cell < 33) return;
    pen.font = Math.round(Math.min(g.cell * 0.34, 13)) + "px " + fonts;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    g.rows.forEach((i, r) => {
        for (let j = x.span[i][0]; j < x.span[i][1]; j++) {
            const w = weightAt(x, frame, h, i, j);
            const c = ramp[Math.round(shade(Math.min(w / unit, 1), colour, largest) * 255)];
            const light = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
            pen.fillStyle = light > 125 ? "#10151a" : w / unit < 0.01 ? "#ffffff70" : "#ffffffe0";
            pen.fillText(weightText(w, 2), g.left + (j - g.lo + 0.5) * g.cell, g.top + (r + 0.5) * g.cell + 0.5);
        }
    });
}

function drawRight(pen, g, x, ink) {
    const line = g.cell < 10 ? 1 : 2;
    pen.strokeStyle = ink.right;
    pen.lineWidth = line;
    g.rows.forEach((i, r) => {
        for (const j of run.right[x.sequence][i])
            if (j >= x.span[i][0] && j < x.span[i][1])
                pen.strokeRect(g.left + (j - g.lo) * g.cell + line / 2, g.top + r * g.cell + line / 2, g.cell - line, g.cell - line);
    });
}

/* The row and, where there is one, the column of what is chosen. */
function drawChosen(pen, g, chosen) {
    const r = g.rows.indexOf(chosen.query), j = chosen.key === null ? -1 : chosen.key - g.lo;
    pen.lineWidth = 1;
    for (const [colour, out] of [["#10151a", 1.5], ["#ffffff", 0.5]]) {
        pen.strokeStyle = colour;
        if (r >= 0) pen.strokeRect(g.left - out, g.top + r * g.cell - out, g.cell * g.keys + 2 * out, g.cell + 2 * out);
        if (j >= 0 && j < g.keys) pen.strokeRect(g.left + j * g.cell - out, g.top - out, g.cell + 2 * out, g.cell * g.rows.length + 2 * out);
    }
    if (r < 0 || j < 0 || j >= g.keys) return;
    pen.lineWidth = 2;
    for (const [colour, out] of [["#ffffff", 0], ["#10151a", 2]]) {
        pen.strokeStyle = colour;
        pen.strokeRect(g.left + j * g.cell - out, g.top + r * g.cell - out, g.cell + 2 * out, g.cell + 2 * out);
    }
}

function drawMap(canvas, g, x, frame, h, colour, largest, chosen) {
    const pen = canvas.getContext("2d"), ink = inkOf(canvas);
    const width = Math.round(g.width * g.ratio), height = Math.round(g.height * g.ratio);
    if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
        canvas.style.width = g.width + "px";
        canvas.style.height = g.height + "px";
    }
    pen.setTransform(g.ratio, 0, 0, g.ratio, 0, 0);
    pen.clearRect(0, 0, g.width, g.height);
    pen.fillStyle = ink.hidden;
    pen.fillRect(g.left, g.top, g.cell * g.keys, g.cell * g.rows.length);
    pen.imageSmoothingEnabled = false;
    if (g.keys && g.rows.length)
        pen.drawImage(paintWeights(g, x, frame, h, colour, largest), g.left, g.top, g.cell * g.keys, g.cell * g.rows.length);
    drawNumbers(pen, g, x, frame, h, colour, largest);
    drawRight(pen, g, x, ink);
    drawLabels(pen, g, ink, chosen);
    drawChosen(pen, g, chosen);
}

/* The cell under a point of the canvas; null: none. A label stands for its whole row. */
function cellAt(g, px, py) {
    const r = Math.floor((py - g.top) / g.cell), j = Math.floor((px - g.left) / g.cell);
    if (r < 0 || r >= g.rows.length || j >= g.keys) return null;
    return {query: g.rows[r], key: j >= 0 ? g.lo + j : null};
}
