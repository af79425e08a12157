// Draws the figures of an experiment in the colours of the theme.
(() => {
  "use strict";
  const { css, layout, draw, lengthOf } = window.Figures;
  const colour = (meta) => css(`--measure-${meta}`) || css("--ink");

  // The squares of a heat map touch each other nearly: their size decides how large the figure is.
  const LARGEST = 120, SMALLEST = 18, TALLEST = 480;
  const longest = (texts) => Math.max(...texts.map(lengthOf));
  // Values that are wider than their square stand upright below it.
  const TITLE = 45;
  // The axes of parallel coordinates need room for their names; the sheet around the figure scrolls.
  const AXIS = 130;
  const measured = (layout, width) => {
    const across = layout.xaxis.categoryarray.length, down = layout.yaxis.categoryarray.length;
    const { r, t } = layout.margin;
    const values = longest(layout.xaxis.categoryarray), l = Math.max(layout.margin.l, TITLE + longest(layout.yaxis.categoryarray));
    const room = Math.min((width - l - r) / across, Math.max(TALLEST / down, 32));
    const side = Math.max(SMALLEST, Math.min(LARGEST, room));
    const isUpright = values > 0.9 * side, b = isUpright ? TITLE + values : layout.margin.b;
    const xaxis = { tickangle: isUpright ? 90 : 0, title: { ...layout.xaxis.title, standoff: isUpright ? 8 : 15 } };
    return { side, xaxis, margin: { l, r, t, b }, width: Math.min(width, l + r + side * across), height: Math.max(270, t + b + side * down) };
  };

  const sized = {
    heat: (layout, width) => (({ width: own, height, margin, xaxis }) => ({ width: own, height, margin, xaxis: { ...layout.xaxis, ...xaxis } }))(measured(layout, width)),
    parallel: (layout, width) => ({ width: Math.max(width, AXIS * layout.xaxis.tickvals.length) }),
  };

  const dressedTrace = (trace, layout, width) => {
    if (trace.meta === "heat") {
      const { side } = measured(layout, width);
      const fits = longest(trace.text) <= 0.9 * side;
      const colorscale = [[0, css("--surface-hover")], [1, css("--measure-deserved")]];
      const marker = { ...trace.marker, size: 0.94 * side, colorscale, line: { width: 1, color: css("--line-strong") } };
      return { ...trace, mode: fits ? "markers+text" : "markers", marker };
    }
    const own = colour(trace.meta);
    return { ...trace, marker: { ...trace.marker, color: own }, line: { ...trace.line, color: own } };
  };

  const drawOne = (place, figure) => {
    const { data, layout: drawn } = figure;
    const meta = place.dataset.figure;
    const size = sized[meta] ? sized[meta](drawn, place.clientWidth) : {};
    const traces = data.map((trace) => dressedTrace(trace, drawn, place.clientWidth));
    draw(place, traces, layout({ ...drawn, ...size }, data, place, { hovermode: "closest" }));
  };
  const drawAll = () => {
    const held = document.getElementById("figures");
    if (!held) return;
    const figures = JSON.parse(held.textContent);
    document.querySelectorAll("[data-figure]").forEach((place) => {
      const figure = figures[place.dataset.figure];
      if (figure) drawOne(place, figure);
    });
  };
  document.addEventListener("htmx:load", drawAll);
  document.addEventListener("theme", drawAll);
  let drawing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(drawAll);
  });
  drawAll();
})();
