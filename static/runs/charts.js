// Draws the figures of a page. A figure is JSON in the page (json_script); here it only gets the page's colours.
(() => {
  "use strict";
  const TICKS = ["line-ns"];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const dressedTrace = (trace) => {
    const colour = trace.meta === "start" ? css("--ink") : css(`--measure-${trace.meta}`);
    const marker = { ...trace.marker, color: colour };
    if (trace.meta === "request") {
      marker.pattern = { shape: "/", size: 5, solidity: 0.25, fgcolor: colour, bgcolor: "rgba(0,0,0,0)", fillmode: "replace" };
      marker.line = { color: colour, width: 1 };
    }
    if (TICKS.includes(marker.symbol)) marker.line = { color: colour, width: 3 };
    else if (marker.symbol) marker.line = { color: css("--surface"), width: 1 };
    return { ...trace, marker };
  };

  const dressedAxis = (axis, lines) => ({ ...axis, ...lines, title: { ...axis.title, font: { size: 12.5 } }, fixedrange: true });

  const dressedLayout = (layout) => {
    const lines = { gridcolor: css("--line"), zerolinecolor: css("--line-strong"), linecolor: css("--line-strong") };
    const ink = css("--ink");
    return {
      ...layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: css("--font-ui"), size: 12.5, color: ink },
      hoverlabel: { bgcolor: css("--surface"), bordercolor: css("--line-strong"), font: { color: ink, family: css("--font-ui") } },
      ...Object.fromEntries(Object.keys(layout).filter((name) => name.startsWith("xaxis")).map((name) => [name, dressedAxis(layout[name], lines)])),
      yaxis: { ...layout.yaxis, ...lines, gridcolor: "rgba(0,0,0,0)", fixedrange: true },
      shapes: (layout.shapes || []).map((shape) => ({ ...shape, line: { color: css("--line-strong"), width: 1.5, dash: "dot" } })),
    };
  };

  const draw = (place) => {
    const figure = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    window.Plotly.react(place, figure.data.map(dressedTrace), dressedLayout(figure.layout), {
      responsive: true,
      displaylogo: false,
      displayModeBar: false,
    });
  };

  const drawAll = (root) => root.querySelectorAll("[data-chart]").forEach(draw);
  document.addEventListener("htmx:load", (event) => drawAll(event.detail.elt));
  document.addEventListener("theme", () => drawAll(document));
})();
