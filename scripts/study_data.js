"use strict";
/* The numbers of the page, and what every part of it uses. */

const run = JSON.parse(document.getElementById("data").textContent);
const LH = run.layers * run.heads;
const unit = Math.pow(10, run.digits);
const $ = (id) => document.getElementById(id);

/* An element with attributes and children; texts go in as text, never as HTML. */
function make(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const name in attributes) {
        if (name.startsWith("on")) e.addEventListener(name.slice(2), attributes[name]);
        else if (attributes[name] !== undefined) e.setAttribute(name, attributes[name]);
    }
    e.append(...children);
    return e;
}

function makeSvg(tag, attributes, ...children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) e.setAttribute(name, attributes[name]);
    e.append(...children);
    return e;
}

/* ---- words ---- */

/* What does not show, or would move what stands around it, by a sign of its own. */
const unruly = /[\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]/g;

/* Joiners and variation selectors belong to the letter or sign before them. */
function isJoined(c, at) {
    return at > 0 && /[\u200c\u200d\ufe00-\ufe0f]/.test(c);
}

function signOf(c, at) {
    const code = c.codePointAt(0);
    if (isJoined(c, at)) return c;
    if (c === " ") return "\u2423";
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return "\u27e8" + code.toString(16).toUpperCase().padStart(4, "0") + "\u27e9";
}

function visible(token) {
    return token === "" ? "\u2205" : token.replace(unruly, signOf);
}

/* The same for words between which blanks are blanks. */
function visibleText(text) {
    return visible(text).replace(/\u2423/g, " ");
}

/* For other programs: no character that could do anything but stand there. */
function plain(token) {
    return token.replace(unruly, (c, at) => {
        const code = c.codePointAt(0);
        return c === " " || isJoined(c, at) ? c : code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0")
                                            : "\\u" + code.toString(16).padStart(4, "0");
    });
}

const splitter = typeof Intl === "object" && Intl.Segmenter ? new Intl.Segmenter() : null;

function letters(text) {
    return splitter ? Array.from(splitter.segment(text), (s) => s.segment) : Array.from(text);
}

/* Four digits that tell something; no number at all is a dash. */
function short(x) {
    if (x === null || x === undefined || Number.isNaN(x)) return "\u2013";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e6 || size < 1e-4) return x.toExponential(2).replace("-", "\u2212").replace("e+", "e");
    if (size >= 1000) return String(Math.round(x));
    return String(Number(x.toPrecision(4))).replace("-", "\u2212");
}

function rounded(x) {
    return x === null ? null : Number(x.toPrecision(3));
}

function titleOf(name) {
    return name.replace(/_/g, " ");
}

function headName(h) {
    const head = "head " + h % run.heads;
    return run.layers > 1 ? "layer " + Math.floor(h / run.heads) + ", " + head : head;
}

/* ---- tables ---- */

function metric(name) {
    const i = run.metrics.names.indexOf(name);
    return i < 0 ? null : run.metrics.values[i];
}

/* A column of heads.tsv: a list a head; null where there is none. */
function series(name) {
    const i = run.series.names.indexOf(name);
    return i < 0 ? null : run.series.values[i];
}

function measure(name, h, frame) {
    const m = run.measures.find((one) => one.name === name);
    return m && frame >= 0 ? m.values[h][frame] : null;
}

function pairOf(list, name) {
    const pair = list.find((one) => one[0] === name);
    return pair ? pair[1] : null;
}

function isFiniteAnywhere(list) {
    return !!list && list.some((x) => x !== null);
}

/* The steps that the slider goes over: those of the maps, else the logged ones. */
const positions = run.frames.length ? run.frames : metric("step") || [];

/* The nearest of growing steps, the earlier of two as near; -1: none. */
function nearest(steps, step) {
    let best = -1;
    for (let i = 0; i < steps.length; i++)
        if (best < 0 || Math.abs(steps[i] - step) < Math.abs(steps[best] - step)) best = i;
    return best;
}

/* ---- maps ---- */

/* Bits, highest first. */
function bitReader(text) {
    const bytes = atob(text);
    let held = 0, count = 0, at = 0;
    const bits = (n) => {
        while (count < n) {
            held = (held << 8) | bytes.charCodeAt(at++);
            count += 8;
        }
        count -= n;
        const x = held >>> count;
        held &= (1 << count) - 1;
        return x;
    };
    return bits;
}

/* An adaptive Rice code; the C source that writes it says how it goes. */
function valueReader(text) {
    const bits = bitReader(text), sum = new Array(32).fill(4), seen = new Array(32).fill(1);
    return (kind) => {
        let k = 0, ones = 0, m;
        while (seen[kind] << k < sum[kind]) k++;
        while (ones < 20 && bits(1)) ones++;
        if (ones < 20) m = (ones << k) + (k ? bits(k) : 0);
        else m = bits(24);
        sum[kind] += m;
        if (++seen[kind] === 64) {
            sum[kind] >>= 1;
            seen[kind] >>= 1;
        }
        return m & 1 ? -(m + 1) / 2 : m / 2;
    };
}

/* start[i] + j is the place of key j of query i in the cells of a head. */
function decode(sequence) {
    const span = run.span[sequence], start = new Int32Array(run.T);
    let cells = 0;
    for (let i = 0; i < run.T; i++) {
        start[i] = cells - span[i][0];
        cells += span[i][1] - span[i][0];
    }
    const row = cells * LH, values = new Uint32Array(row * run.frames.length);
    const next = valueReader($("maps" + sequence).textContent);
    const first = new Uint32Array(row);
    for (let h = 0, at = 0; h < LH; h++)
        for (let i = 0; i < run.T; i++)
            for (let j = span[i][0]; j < span[i][1]; j++)
                first[at++] = Math.floor(unit / (span[i][1] - span[i][0]));
    for (let at = 0; at < values.length; at++) {
        const before = at < row ? first[at] : values[at - row];
        values[at] = before + next(32 - Math.clz32(before));
    }
    return {sequence, span, start, cells, row, values};
}

/* The example that is shown; only one is held, for they are large. */
let decoded = null;
function example(sequence) {
    if (!decoded || decoded.sequence !== sequence) decoded = decode(sequence);
    return decoded;
}

/* In units of the last decimal, of coefficients the size: -1 for a key that is not seen, above `unit` for what is no
 * weight. */
function weightAt(x, frame, h, i, j) {
    if (j < x.span[i][0] || j >= x.span[i][1]) return -1;
    return x.values[frame * x.row + h * x.cells + x.start[i] + j];
}

function weightText(w, digits) {
    return w < 0 ? "" : w > unit ? "nan" : (w / unit * run.full).toFixed(digits);
}

/* Entropy and the like of a row, as exact as its decimals. Of coefficients `right` is a share
 * of their sizes. */
function rowFacts(x, frame, h, i) {
    let entropy = 0, right = 0, all = 0, broken = false, n = 0;
    for (let j = x.span[i][0]; j < x.span[i][1]; j++, n++) {
        const w = weightAt(x, frame, h, i, j);
        if (w > unit) broken = true;
        if (w > 0) entropy -= w / unit * Math.log(w / unit);
        all += w / unit;
        if (run.right[x.sequence][i].includes(j)) right += w / unit;
    }
    if (run.coefficients) right /= all || 1;
    return {entropy: broken || run.coefficients ? null : entropy, right: broken ? null : right, keys: n};
}
