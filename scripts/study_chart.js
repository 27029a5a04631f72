/* Curves over the steps: SVG, a line that goes with the slider, values beside the names. */

const chartHeight = 200, chartLeft = 48, chartRight = 12, chartTop = 12, chartBottom = 34;

/* From a value to a place between 0 and 1. */
function scaleOf(low, high, isLog) {
    if (isLog) {
        const a = Math.log10(low), b = Math.log10(high);
        return (v) => (Math.log10(v) - a) / (b - a);
    }
    return (v) => (v - low) / (high - low);
}

/* Round numbers from low to high, about n of them. */
function ticksOf(low, high, n) {
    const rough = (high - low) / n, power = Math.pow(10, Math.floor(Math.log10(rough)));
    const size = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.7);
    const ticks = [];
    for (let i = Math.ceil(low / size - 1e-9); i * size <= high + size * 1e-9; i++) ticks.push(i * size);
    return ticks;
}

/* Powers of ten, with halves and fifths where there are few; at most about n. */
function logTicks(low, high, n) {
    const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
    const every = Math.max(1, Math.ceil((to - from) / n)), ticks = [];
    for (let p = from; p <= to; p++)
        for (const f of to - from <= 2 ? [1, 2, 5] : [1])
            if ((p - from) % every === 0) ticks.push(f * Math.pow(10, p));
    const inside = ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001);
    return inside.length > 1 ? inside : ticksOf(low, high, 3);
}

function finite(lines) {
    return lines.flatMap((line) => line.y).filter((v) => v !== null && Number.isFinite(v));
}

/* The range of the values, never empty. */
function rangeOf(spec) {
    const all = finite(spec.lines).filter((v) => !spec.log || v > 0);
    if (spec.range) return spec.range;
    let low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!all.length) return spec.log ? [0.1, 1] : [0, 1];
    if (spec.log) return low < high ? [low, high] : [low / 2, high * 2];
    if (spec.zero && low > 0 && low < high / 2) low = 0;
    if (low === high) {
        const pad = Math.abs(low) / 2 || 0.5;
        return [low - pad, high + pad];
    }
    const pad = (high - low) * 0.04;
    return [low === 0 ? 0 : low - pad, high + pad];
}

function tickText(v) {
    const size = Math.abs(v);
    if (v !== 0 && (size >= 1e5 || size < 1e-3)) return v.toExponential(0).replace("e+", "e").replace(/-/g, "\u2212");
    return String(Number(v.toPrecision(3))).replace("-", "\u2212");
}

function pathOf(line, sx, sy, isLog) {
    let path = "", alone = [], last = null, pen = false;
    line.y.forEach((v, i) => {
        const there = v !== null && Number.isFinite(v) && (!isLog || v > 0);
        if (!there) {
            if (last && !pen) alone.push(last);
            last = null;
            pen = false;
            return;
        }
        const p = sx(line.x[i]).toFixed(1) + " " + sy(v).toFixed(1);
        if (last) {
            path += (pen ? "L" : "M" + last + "L") + p;
            pen = true;
        }
        last = p;
    });
    if (last && !pen) alone.push(last);
    return {path, alone};
}

/* spec: title, unit, lines [{name, x, y, colour, dash, quiet}], marks [{step, text}], log,
 * range, zero, low (words of marks below), none (what to say without numbers). pick(step): a
 * step was pointed at. */
class Chart {
    constructor(pick) {
        this.pick = pick;
        this.heading = make("h3", {});
        this.unit = make("span", {class: "quiet"});
        this.legend = make("ul", {class: "lines"});
        this.svg = makeSvg("svg", {height: chartHeight, role: "img"});
        this.copy = make("button", {type: "button", class: "small", onclick: () => copyText(this.table(), this.copy)}, "copy");
        this.element = make("figure", {class: "chart"}, make("figcaption", {}, this.heading, this.unit, this.copy), this.svg, this.legend);
        const point = (event) => {
            if (event.type === "pointermove" && !(event.buttons & 1)) return;
            const step = this.stepAt(event.clientX - this.svg.getBoundingClientRect().left);
            if (step !== null) this.pick(step);
        };
        this.svg.addEventListener("pointerdown", point);
        this.svg.addEventListener("pointermove", point);
    }

    stepAt(px) {
        if (!this.unscale) return null;
        const at = (px - chartLeft) / (this.width - chartLeft - chartRight);
        return this.unscale(Math.min(Math.max(at, 0), 1));
    }

    /* Steps from 0 on: log means ln(1 + step), which has a place for 0. */
    steps(last, isLog) {
        const end = Math.max(last, 1), room = this.width - chartLeft - chartRight;
        const grow = isLog ? (s) => Math.log1p(s) / Math.log1p(end) : (s) => s / end;
        this.unscale = isLog ? (a) => Math.expm1(a * Math.log1p(end)) : (a) => a * end;
        this.sx = (s) => chartLeft + room * grow(s);
        return isLog ? [0, ...logTicks(1, end, 5).filter((t) => t >= 1)] : ticksOf(0, end, Math.max(2, Math.floor(room / 75))).filter((t) => t === Math.round(t));
    }

    draw(spec, view) {
        const width = Math.max(Math.floor(this.element.clientWidth), 200);
        this.spec = spec;
        this.width = width;
        this.heading.textContent = spec.title;
        this.unit.textContent = spec.unit || "";
        const numbers = finite(spec.lines).length;
        const isLog = !!spec.log && finite(spec.lines).some((v) => v > 0);
        const [low, high] = rangeOf({...spec, log: isLog}), xticks = this.steps(view.last, view.log);
        const inner = chartHeight - chartTop - chartBottom, scale = scaleOf(low, high, isLog);
        this.sy = (v) => chartTop + inner * (1 - scale(v));
        this.isLog = isLog;
        this.svg.replaceChildren();
        this.svg.setAttribute("width", width);
        this.svg.setAttribute("viewBox", "0 0 " + width + " " + chartHeight);
        this.svg.setAttribute("aria-label", spec.title + (numbers ? ", from " + short(Math.min(...finite(spec.lines).slice(0, 50000))) + " to " + short(Math.max(...finite(spec.lines).slice(0, 50000))) : ": no numbers"));
        this.axes(xticks, isLog ? logTicks(low, high, 4) : ticksOf(low, high, 4), low, high);
        if (!numbers) this.svg.append(makeSvg("text", {x: (chartLeft + width - chartRight) / 2, y: chartTop + inner / 2, class: "none"}, spec.none || "no numbers"));
        spec.lines.forEach((line) => this.line(line, isLog));
        this.marks(spec.marks || []);
        this.cursor = makeSvg("line", {class: "cursor", y1: chartTop, y2: chartTop + inner});
        this.svg.append(this.cursor);
        this.dots = spec.lines.map((line) => makeSvg("circle", {r: 3.5, class: "dot", fill: line.colour}));
        this.svg.append(...this.dots);
        this.values = spec.lines.map(() => make("output", {}));
        this.legend.replaceChildren(...spec.lines.map((line, i) => make("li", {class: line.quiet ? "faint" : ""}, this.sample(line), line.name + " ", this.values[i])));
        this.goTo(view.step);
    }

    sample(line) {
        return makeSvg("svg", {class: "sample", width: 18, height: 8, "aria-hidden": "true"},
            makeSvg("line", {x1: 0, x2: 18, y1: 4, y2: 4, stroke: line.colour, "stroke-width": 2, "stroke-dasharray": line.dash || "none"}));
    }

    axes(xticks, yticks, low, high) {
        const right = this.width - chartRight, bottom = chartHeight - chartBottom;
        let free = -Infinity;
        for (const t of yticks) {
            if (t < low - (high - low) * 1e-9 || t > high * (1 + 1e-9) + (high - low) * 1e-9) continue;
            const y = this.sy(t);
            this.svg.append(makeSvg("line", {class: "grid", x1: chartLeft, x2: right, y1: y, y2: y}),
                makeSvg("text", {class: "tick", x: chartLeft - 6, y: y + 4, "text-anchor": "end"}, tickText(t)));
        }
        for (const t of xticks) {
            const x = this.sx(t), text = tickText(t), half = text.length * 3.6 + 3;
            if (x > right + 1) continue;
            this.svg.append(makeSvg("line", {class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 4}));
            if (x - half < free) continue;
            free = x + half;
            this.svg.append(makeSvg("text", {class: "tick", x, y: bottom + 16, "text-anchor": "middle"}, text));
        }
        this.svg.append(makeSvg("line", {class: "axis", x1: chartLeft, x2: right, y1: bottom, y2: bottom}),
            makeSvg("text", {class: "unit", x: right, y: chartHeight - 3, "text-anchor": "end"}, "step"));
    }

    /* Dashed lines at steps of note, in words where there is room. */
    marks(marks) {
        const taken = [];
        for (const mark of marks) {
            if (mark.step === null || mark.step === undefined) continue;
            const x = this.sx(mark.step), flip = x > this.width * 0.6;
            const row = taken.filter((other) => Math.abs(other - x) < 110).length;
            taken.push(x);
            this.svg.append(makeSvg("line", {class: "mark", x1: x, x2: x, y1: chartTop, y2: chartHeight - chartBottom}),
                makeSvg("text", {class: "note", x: flip ? x - 4 : x + 4, y: this.spec.low ? chartHeight - chartBottom - 6 - 12 * row : chartTop + 9 + 12 * row, "text-anchor": flip ? "end" : "start"}, mark.text));
        }
    }

    line(line, isLog) {
        const {path, alone} = pathOf(line, this.sx, this.sy, isLog), kind = "curve" + (line.quiet ? " faint" : "");
        if (path) this.svg.append(makeSvg("path", {class: kind, d: path, stroke: line.colour, "stroke-dasharray": line.dash || "none"}));
        for (const p of alone) {
            const [cx, cy] = p.split(" ");
            this.svg.append(makeSvg("circle", {class: kind, cx, cy, r: 2.5, fill: line.colour, stroke: "none"}));
        }
    }

    /* The cursor at a step, and each line's value at its point nearest to it. */
    goTo(step) {
        if (!this.sx) return;
        const x = this.sx(step || 0);
        this.cursor.setAttribute("x1", x);
        this.cursor.setAttribute("x2", x);
        this.spec.lines.forEach((line, n) => {
            const i = nearest(line.x, step || 0), v = i < 0 ? null : line.y[i];
            const there = v !== null && Number.isFinite(v) && (!this.isLog || v > 0);
            this.values[n].textContent = short(v);
            this.values[n].title = i < 0 ? "" : "at step " + line.x[i];
            this.dots[n].setAttribute("visibility", there && !line.quiet ? "visible" : "hidden");
            if (!there) return;
            this.dots[n].setAttribute("cx", this.sx(line.x[i]));
            this.dots[n].setAttribute("cy", this.sy(v));
        });
    }

    table() {
        const lines = this.spec.lines, steps = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
        const at = lines.map((line) => new Map(line.x.map((s, i) => [s, line.y[i]])));
        const cell = (v) => v === undefined ? "" : v === null ? "nan" : String(v);
        return [["step", ...lines.map((line) => plain(this.spec.title + ": " + line.name))].join("\t"),
            ...steps.map((s) => [s, ...at.map((column) => cell(column.get(s)))].join("\t"))].join("\n") + "\n";
    }
}

/* To the clipboard, by whatever way the browser allows; the button says how it went. */
async function copyText(text, button) {
    let done = false;
    try {
        await navigator.clipboard.writeText(text);
        done = true;
    } catch (refused) {
        const area = make("textarea", {class: "aside", "aria-hidden": "true", tabindex: "-1"});
        area.value = text;
        document.body.append(area);
        area.select();
        done = document.execCommand("copy");
        area.remove();
        button.focus();
    }
    if (!button.dataset.label) button.dataset.label = button.textContent;
    button.textContent = done ? "copied" : "not allowed";
    $("said").textContent = done ? "Copied " + (text.split("\n").length - 2) + " rows" : "The browser does not allow to copy";
    clearTimeout(button.timer);
    button.timer = setTimeout(() => { button.textContent = button.dataset.label; }, 1500);
}
