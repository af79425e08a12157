// What all figures share: the colours and letters of the page, and room for a legend of several rows.
window.Figures = (() => {
  "use strict";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const SIZE = 12.5, SYMBOL = 45, ROW = 19, BELOW = 10;
  const canvas = document.createElement("canvas").getContext("2d");
  const lengthOf = (text) => {
    canvas.font = `${SIZE}px ${css("--font-ui")}`;
    return Math.max(...text.split("<br>").map((line) => canvas.measureText(line).width));
  };

  // Plotly sets a legend in one row, or in columns as wide as the longest name; the plot would shrink by the other rows.
  const rowsOfLegend = (traces, width) => {
    const widths = traces.filter((trace) => trace.name && trace.showlegend !== false).map((trace) => SYMBOL + lengthOf(trace.name));
    if (widths.reduce((sum, own) => sum + own, 0) <= width) return 1;
    return Math.ceil(widths.length / Math.max(1, Math.floor(width / Math.max(...widths))));
  };
  const withLegend = (layout, traces, width) => {
    const { l, r, t } = layout.margin;
    if (layout.showlegend === false || !layout.legend) return {};
    const more = Math.max(0, ROW * rowsOfLegend(traces, width - l - r) + BELOW - t);
    return { height: layout.height + more, margin: { ...layout.margin, t: t + more } };
  };

  // A note that is wider than the plot would be cut off at the edge of the figure.
  const withNotes = ({ annotations, margin }, width) => {
    const room = width - margin.l - margin.r;
    const size = (note) => Math.min(SIZE, Math.floor(SIZE * room / lengthOf(note.text)));
    return annotations ? { annotations: annotations.map((note) => (lengthOf(note.text) > room ? { ...note, font: { size: size(note) } } : note)) } : {};
  };

  const layout = (drawn, traces, place, more = {}) => {
    const lines = { gridcolor: css("--line"), zerolinecolor: css("--line-strong"), linecolor: css("--line-strong") };
    const font = { family: css("--font-ui"), size: SIZE, color: css("--ink") };
    const axes = Object.keys(drawn).filter((name) => /^[xy]axis/.test(name));
    const dressed = (axis) => ({ ...axis, ...lines, title: { ...axis.title, font: { size: SIZE } }, fixedrange: true });
    return {
      ...drawn,
      ...withLegend(drawn, traces, place.clientWidth),
      ...withNotes(drawn, place.clientWidth),
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font,
      hoverlabel: { bgcolor: css("--surface"), bordercolor: css("--line-strong"), font: { family: font.family, color: font.color } },
      dragmode: false,
      ...Object.fromEntries(axes.map((name) => [name, dressed(drawn[name])])),
      ...more,
    };
  };

  const draw = (place, traces, dressed, options = {}) =>
    window.Plotly.react(place, traces, dressed, { responsive: true, displaylogo: false, displayModeBar: false, ...options });

  return { css, layout, draw, lengthOf };
})();
