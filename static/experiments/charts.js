// Draws the figures of an experiment in the colours of the theme.
(() => {
  "use strict";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (meta) => css(`--measure-${meta}`) || css("--ink");

  const dressedTrace = (trace, width) => {
    if (trace.meta === "heat") {
      const size = Math.max(8, Math.min(36, 0.9 * (width - 110) / new Set(trace.x).size));
      const colorscale = [[0, css("--surface-hover")], [1, css("--measure-deserved")]];
      return { ...trace, marker: { ...trace.marker, size, colorscale, line: { width: 1, color: css("--line-strong") } } };
    }
    const own = colour(trace.meta);
    return { ...trace, marker: { ...trace.marker, color: own }, line: { ...trace.line, color: own } };
  };

  const dressedLayout = (layout) => {
    const lines = { gridcolor: css("--line"), zerolinecolor: css("--line-strong"), linecolor: css("--line-strong") };
    const ink = css("--ink");
    const axes = Object.keys(layout).filter((name) => /^[xy]axis/.test(name));
    return {
      ...layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: css("--font-ui"), size: 12.5, color: ink },
      hovermode: "closest",
      hoverlabel: { bgcolor: css("--surface"), bordercolor: css("--line-strong"), font: { color: ink, family: css("--font-ui") } },
      dragmode: false,
      ...Object.fromEntries(axes.map((name) => [name, { ...layout[name], ...lines, fixedrange: true }])),
    };
  };

  const options = { responsive: true, displaylogo: false, displayModeBar: false };
  const drawAll = () => {
    const held = document.getElementById("figures");
    if (!held) return;
    const figures = JSON.parse(held.textContent);
    document.querySelectorAll("[data-figure]").forEach((place) => {
      const figure = figures[place.dataset.figure];
      if (figure) window.Plotly.react(place, figure.data.map((trace) => dressedTrace(trace, place.clientWidth)), dressedLayout(figure.layout), options);
    });
  };
  document.addEventListener("htmx:load", drawAll);
  document.addEventListener("theme", drawAll);
  drawAll();
})();
