// Draws the figures of a forecast. Zoom is shared by all figures over time and kept in the address; a click opens a time.
(() => {
  "use strict";
  const HOUR = 3600;
  let page = null;
  const { css, layout, draw } = window.Figures;
  const colour = (meta) => css(meta && meta.startsWith("queue-") ? `--${meta}` : `--measure-${meta}`) || css("--ink");

  const dressedTrace = (trace) => {
    const own = colour(trace.meta);
    if (trace.type === "bar") return { ...trace, marker: { ...trace.marker, color: own } };
    if (trace.type === "box") return { ...trace, line: { color: own }, fillcolor: "rgba(0,0,0,0)" };
    const line = { ...trace.line, color: own };
    if (trace.meta === "deserved" || trace.meta === "capability") line.dash = "dash";
    if (trace.meta === "request") line.dash = "dot";
    return { ...trace, line, ...(trace.stackgroup ? { fillcolor: own } : {}) };
  };

  // Only time can be zoomed.
  const zoomed = (figure, dressed) => Object.fromEntries(Object.keys(figure.layout).filter((name) => name.startsWith("xaxis")).map((name) => [name, { ...dressed[name], fixedrange: false }]));

  const places = () => [...document.querySelectorAll("[data-figure]")];
  const drawOne = (place, figure) => {
    const zooms = "zooms" in place.dataset;
    const shapes = (figure.layout.shapes || []).map((shape) => ({ ...shape, line: { ...shape.line, color: css("--ink") } }));
    const dressed = layout(figure.layout, figure.data, place, { title: undefined, dragmode: zooms ? "zoom" : false, shapes });
    draw(place, figure.data.map(dressedTrace), zooms ? { ...dressed, ...zoomed(figure, dressed) } : dressed, { doubleClick: false });
    if (!zooms || place.dataset.listens) return;
    place.dataset.listens = "yes";
    place.on("plotly_relayout", (moved) => {
      const [from, to] = [moved["xaxis.range[0]"], moved["xaxis.range[1]"]];
      if (from !== undefined) zoom(Math.max(0, from * HOUR), to * HOUR);
    });
    place.on("plotly_doubleclick", () => zoom(null, null));
    place.on("plotly_click", (event) => {
      const at = Math.max(0, Math.round(event.points[0].x * HOUR));
      if (page.dataset.moment) window.location = `${page.dataset.moment}?at=${at}`;
    });
  };

  let figures = {};
  const drawAll = () => places().forEach((place) => { if (figures[place.dataset.figure]) drawOne(place, figures[place.dataset.figure]); });

  const show = (address) => fetch(address, { headers: { Accept: "application/json" } })
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText))))
    .then((answer) => { figures = { ...figures, ...answer.figures }; drawAll(); page.dataset.drawn = address; })
    .catch(() => { document.getElementById("connection").hidden = false; });

  const zoom = (begin, end) => {
    const address = new URL(window.location);
    if (begin === null) ["begin", "end"].forEach((name) => address.searchParams.delete(name));
    else { address.searchParams.set("begin", begin.toFixed(1)); address.searchParams.set("end", end.toFixed(1)); }
    window.history.replaceState(null, "", address);
    const reset = document.getElementById("zoom-reset");
    if (reset) reset.hidden = begin === null;
    show(`${page.dataset.source}?${address.searchParams}`);
  };

  // The figures come with the page, or with the part of it that takes the place of the progress.
  const begin = () => {
    page = document.getElementById("forecast-figures");
    if (!page || page.dataset.drawn) return;
    page.dataset.drawn = "page";
    figures = JSON.parse(document.getElementById("figures").textContent);
    drawAll();
    const reset = document.getElementById("zoom-reset");
    if (reset) reset.addEventListener("click", () => zoom(null, null));
  };
  document.addEventListener("htmx:load", begin);
  document.addEventListener("theme", drawAll);
  begin();
})();
