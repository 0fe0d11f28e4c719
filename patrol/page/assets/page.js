/* Charts are drawn when a run is opened. Numbers lie in each run's own JSON block; nothing is loaded. */
"use strict";
(() => {
  const body = document.body;
  const offset = Number(body.dataset.offset);
  const drawn = new Map(); // a run's element: its charts
  const HEIGHT = 180;
  const PRINTED = 285; // width of a chart where two stand side by side on A4

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const each = (selector, work, within = document) => within.querySelectorAll(selector).forEach(work);

  // -- times and numbers as words

  const age = (seconds) => {
    const s = Math.max(0, seconds);
    if (s >= 172800) return `${Math.floor(s / 86400)} days ago`;
    if (s >= 5400) return `${Math.floor(s / 3600)} h ago`;
    if (s >= 90) return `${Math.floor(s / 60)} min ago`;
    return s < 5 ? "just now" : `${Math.floor(s)} s ago`;
  };
  const now = () => Date.now() / 1000;
  // As the clock of the machine that made the page showed it: every time on the page is of one zone.
  const zoned = (at) => {
    const local = new Date(at * 1000);
    return new Date(local.getTime() + (offset + local.getTimezoneOffset() * 60) * 1000);
  };
  const two = (number) => String(number).padStart(2, "0");
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const clock = (at) => {
    const d = zoned(at);
    return `${d.getDate()} ${MONTHS[d.getMonth()]} ${two(d.getHours())}:${two(d.getMinutes())}`;
  };
  const number = (value) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size >= 1e9) return `${+(value / 1e9).toPrecision(4)}G`;
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(4)}M`;
    if (size >= 1e5) return `${+(value / 1e3).toPrecision(4)}k`;
    return size !== 0 && size < 1e-3 ? value.toExponential(2) : String(+value.toPrecision(5));
  };

  // Of an axis: all of its numbers in the same unit.
  const marksOf = (splits, unit) => {
    const top = Math.max(...splits.filter((one) => one !== null).map(Math.abs));
    const [size, letter] = top >= 1e9 ? [1e9, "G"] : top >= 1e6 ? [1e6, "M"] : top >= 1e4 ? [1e3, "k"] : [1, ""];
    return splits.map((v) => (v === null ? "" : v === 0 ? `0${unit}` : number(v / size) + letter + unit));
  };

  const tell = () => {
    each("time[data-age]", (time) => { time.textContent = age(now() - Number(time.dataset.age)); });
    const old = now() - Number(body.dataset.made);
    const stale = document.getElementById("stale");
    stale.hidden = old < 2 * Number(body.dataset.cadence);
    if (!stale.hidden) stale.textContent = `This page was made ${age(old)}. What runs now may be something else.`;
  };

  // -- charts

  // Where nothing was seen: hatched. Where attempts began: a thin line. A limit: a dashed one.
  const marks = (data, chart, length) => ({
    hooks: {
      // The newest numbers, while the pointer is elsewhere.
      setCursor: [(u) => { if (u.cursor.idx === null || u.cursor.idx === undefined) u.setLegend({ idx: newest(u, length) }, false); }],
      ready: [(u) => u.setLegend({ idx: newest(u, length) }, false)],
      drawAxes: [(u) => {
        const { ctx, bbox } = u;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        for (const [from, to] of data.tables[chart.table].holes) hatch(u, u.valToPos(from, "x", true), u.valToPos(to, "x", true));
        ctx.strokeStyle = colour("--bar-unknown");
        ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
        for (const [at] of data.marks) {
          const x = u.valToPos(at, "x", true);
          line(ctx, x, bbox.top, x, bbox.top + bbox.height);
        }
        if (chart.limit) {
          const y = Math.max(u.valToPos(chart.limit[0], "y", true), bbox.top + 1);
          ctx.strokeStyle = colour("--bar-critical");
          ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
          line(ctx, bbox.left, y, bbox.left + bbox.width, y);
        }
        ctx.restore();
      }],
    },
  });
  // The newest row of which the first line knows something.
  const newest = (u, length) => {
    for (let at = length - 1; at >= 0; at--) if (u.data[1][at] !== null) return at;
    return length - 1;
  };
  const line = (ctx, x1, y1, x2, y2) => { ctx.beginPath(); ctx.moveTo(x1, y1); ctx.lineTo(x2, y2); ctx.stroke(); };
  const hatch = (u, left, right) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.clip();
    ctx.fillStyle = colour("--unknown-back");
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.strokeStyle = colour("--card");
    ctx.lineWidth = 3 * devicePixelRatio;
    const step = 9 * devicePixelRatio;
    const first = Math.max(left, bbox.left) - bbox.height;
    for (let x = first - (first % step); x < Math.min(right, bbox.left + bbox.width); x += step) {
      line(ctx, x, bbox.top + bbox.height, x + bbox.height, bbox.top);
    }
    ctx.restore();
  };

  // A line breaks where nothing was seen for long, and where a counter begins anew.
  // Of a run's own series a number stands where it was read: between two of them the line goes on.
  const breaks = (table, key, sparse) => (u, series, first, last, gaps) => {
    const x = u.data[0], y = u.data[series];
    const found = sparse ? [] : gaps.slice();
    let before = null;
    for (let i = first; i <= last; i++) {
      if (y[i] === null || y[i] === undefined) continue;
      const unseen = before !== null && table.holes.some(([from, to]) => x[before] <= from && to <= x[i]);
      if (before !== null && (unseen || (key === "progress" && y[i] < y[before]))) {
        found.push([u.valToPos(x[before], "x", true), u.valToPos(x[i], "x", true)]);
      }
      before = i;
    }
    return found.sort((one, other) => one[0] - other[0]);
  };

  const times = (table) => {
    let at = 0;
    return table.x.map((step) => (at += step));
  };

  const columns = (data, chart) => {
    const x = times(data.tables[chart.table]);
    const ahead = [...new Set(chart.lines.flatMap((one) => one.ahead.map(([at]) => at)))].sort((a, b) => a - b);
    const more = ahead.filter((at) => at > x[x.length - 1]);
    const all = x.concat(more);
    const found = [all];
    for (const one of chart.lines) {
      found.push(one.y.concat(more.map(() => null)));
      if (one.ahead.length) {
        const at = new Map(one.ahead);
        const start = x.length - 1;
        found.push(all.map((t, i) => (at.has(t) ? at.get(t) : i === start && !at.has(more[0]) ? one.y[start] : null)));
      }
    }
    return found;
  };

  const INKS = ["--ink-1", "--ink-2"];
  const seriesOf = (data, key, chart) => chart.lines.flatMap((one, place) => {
    const stroke = () => colour(INKS[place % INKS.length]);
    const value = (u, v) => (v === null || v === undefined ? "–" : `${number(v)}${chart.unit === "%" ? "%" : chart.unit === "GB" ? " GB" : ""}`);
    const gaps = breaks(data.tables[chart.table], key, chart.table === "series");
    const main = { label: one.name, stroke, width: 1.75, value, gaps, points: { size: 5 } };
    if (!one.ahead.length) return [main];
    return [main, { label: `${one.name}, if it goes on`, stroke, width: 1.75, dash: [3, 5], class: "ahead", spanGaps: true, value, points: { show: false } }];
  });

  const rangeOf = (chart, key) => (u, low, high) => {
    if (chart.top !== null) return [0, chart.top];
    if (["loss", "metric", "learning_rate", "grad_norm"].includes(key)) return uPlot.rangeNum(low ?? 0, high ?? 1, 0.08, false);
    const top = Math.max(high ?? 1, chart.limit ? chart.limit[0] : 0) || 1;
    return [0, top * 1.05];
  };

  const DAY = 86400;
  const STAMPS = [
    [28 * DAY, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    [DAY, "{D} {MMM}", null, null, null, null, null, null, 1],
    [60, "{HH}:{mm}", "\n{D} {MMM}", null, "\n{D} {MMM}", null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", "\n{D} {MMM}", null, "\n{D} {MMM}", null, null, null, 1],
  ];

  const options = (data, key, chart, width, log) => {
    const axis = { stroke: () => colour("--soft"), grid: { stroke: () => colour("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    return {
      width,
      height: HEIGHT,
      tzDate: zoned,
      series: [{ label: "at", value: (u, at) => (at === null ? "–" : clock(at)) }, ...seriesOf(data, key, chart)],
      scales: { y: log ? { distr: 3 } : { range: rangeOf(chart, key) } },
      axes: [
        { ...axis, values: STAMPS, space: 64, size: 38 },
        { ...axis, size: 52, values: (u, splits) => marksOf(splits, chart.unit === "%" ? "%" : "") },
      ],
      cursor: { sync: { key: data.key }, points: { size: 6 } },
      legend: { markers: { width: 1 } },
      plugins: [marks(data, chart, data.tables[chart.table].x.length)],
    };
  };

  const draw = (run) => {
    if (drawn.has(run)) return;
    each("pre.log", (log) => { log.scrollTop = log.scrollHeight; }, run);
    const data = JSON.parse(run.querySelector('script[type="application/json"]').textContent);
    data.key = run.id;
    const charts = [];
    drawn.set(run, charts);
    each("figure[data-chart]", (figure) => {
      const key = figure.dataset.chart, chart = data.charts[key];
      if (!chart) return;
      const place = figure.querySelector(".plot");
      const kept = { place, plot: null, make: (log) => {
        if (kept.plot) kept.plot.destroy();
        kept.plot = new uPlot(options(data, key, chart, place.clientWidth, log), columns(data, chart), place);
      } };
      kept.make(false);
      charts.push(kept);
      const button = figure.querySelector(".scale");
      if (button) button.addEventListener("click", () => {
        const log = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(log));
        kept.make(log);
      });
    }, run);
  };
  const fit = () => drawn.forEach((charts, run) => {
    if (run.open) charts.forEach(({ plot, place }) => {
      if (plot.width !== place.clientWidth) plot.setSize({ width: place.clientWidth, height: HEIGHT });
    });
  });
  const redraw = () => drawn.forEach((charts) => charts.forEach(({ plot }) => plot.redraw(false, true)));

  // -- what a person does

  const copy = async (button) => {
    const text = button.dataset.copy;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch (refused) { // an old browser, or one that wants a secure origin
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = done ? "Copied" : "Select it";
    document.getElementById("said").textContent = done ? "Copied" : "It could not be copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };

  const find = (words) => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    each("[data-words]", (one) => { one.hidden = !wanted.every((word) => one.dataset.words.includes(word)); });
  };

  const openNamed = () => {
    const run = location.hash && document.getElementById(location.hash.slice(1));
    if (!run || run.tagName !== "DETAILS") return;
    run.open = true;
    draw(run);
    run.scrollIntoView();
  };

  // -- a page that is written anew after each tick loads itself again, as it was

  const KEPT = "onbox-report";
  const remember = () => {
    const open = [...document.querySelectorAll("details.run")].filter((run) => run.open).map((run) => run.querySelector(".name").textContent);
    try { sessionStorage.setItem(KEPT, JSON.stringify({ open, y: scrollY })); } catch (refused) { /* then it begins at the top */ }
  };
  const recall = () => {
    let kept = null;
    try {
      kept = JSON.parse(sessionStorage.getItem(KEPT));
      sessionStorage.removeItem(KEPT);
    } catch (refused) { return; }
    if (!kept) return;
    each("details.run", (run) => { run.open = kept.open.includes(run.querySelector(".name").textContent); });
    requestAnimationFrame(() => scrollTo(0, kept.y));
  };
  const renew = () => {
    if (!document.hidden && !String(getSelection())) {
      remember();
      location.reload();
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button) copy(button);
  });
  each("details.run", (run) => run.addEventListener("toggle", () => { if (run.open) { draw(run); fit(); } }));
  document.getElementById("filter")?.addEventListener("input", (event) => find(event.target.value));
  addEventListener("hashchange", openNamed);
  addEventListener("resize", fit);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printed");
    drawn.forEach((charts, run) => { if (run.open) charts.forEach(({ plot }) => { plot.setSize({ width: PRINTED, height: HEIGHT }); plot.redraw(false, true); }); });
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printed");
    fit();
    redraw();
  });

  recall();
  each("details.run[open]", draw);
  openNamed();
  tell();
  setInterval(tell, 15000);
  const due = Number(body.dataset.renewed || 0);
  if (due) setInterval(() => { if (now() > due + 45 && now() - due < 86400) renew(); }, 60000);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
