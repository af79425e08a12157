// Draws the figures of an experiment in the colours of the theme.
(() => {
  "use strict";
  const { css, layout, draw } = window.Figures;
  const colour = (meta) => css(`--measure-${meta}`) || css("--ink");

  // The squares of a heat map touch each other nearly: their size decides how large the figure is.
  const LARGEST = 120, SMALLEST = 18, TALLEST = 480, LETTER = 7;
  // The axes of parallel coordinates need room for their names; the sheet around the figure scrolls.
  const AXIS = 130;
  const measured = (layout, width) => {
    const across = layout.xaxis.categoryarray.length, down = layout.yaxis.categoryarray.length;
    const { l, r, t, b } = layout.margin;
    const room = Math.min((width - l - r) / across, Math.max(TALLEST / down, 32));
    const side = Math.max(SMALLEST, Math.min(LARGEST, room));
    return { side, width: Math.min(width, l + r + side * across), height: Math.max(270, t + b + side * down) };
  };

  const sized = {
    heat: (layout, width) => (({ width: own, height }) => ({ width: own, height }))(measured(layout, width)),
    parallel: (layout, width) => ({ width: Math.max(width, AXIS * layout.xaxis.tickvals.length) }),
  };

  const dressedTrace = (trace, layout, width) => {
    if (trace.meta === "heat") {
      const { side } = measured(layout, width);
      const fits = Math.max(...trace.text.map((text) => text.length)) * LETTER <= side;
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
    draw(place, data.map((trace) => dressedTrace(trace, drawn, place.clientWidth)), layout(drawn, data, place, { ...size, hovermode: "closest" }));
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
