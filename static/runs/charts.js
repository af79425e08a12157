// Draws the figures of a page. A figure is JSON in the page (json_script); here it only gets the page's colours.
(() => {
  "use strict";
  const TICKS = ["line-ns"];
  const { css, layout, draw } = window.Figures;

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

  const drawOne = (place) => {
    const figure = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    const dressed = layout(figure.layout, figure.data, place);
    dressed.yaxis.gridcolor = "rgba(0,0,0,0)";
    dressed.shapes = (figure.layout.shapes || []).map((shape) => ({ ...shape, line: { color: css("--line-strong"), width: 1.5, dash: "dot" } }));
    draw(place, figure.data.map(dressedTrace), dressed);
  };

  const drawAll = (root) => root.querySelectorAll("[data-chart]").forEach(drawOne);
  document.addEventListener("htmx:load", (event) => drawAll(event.detail.elt));
  document.addEventListener("theme", () => drawAll(document));
})();
