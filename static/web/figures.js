// What all figures share: the colours and letters of the page, and room for a legend of several rows.
window.Figures = (() => {
  "use strict";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const SIZE = 12.5, SMALLEST = 10, SYMBOL = 45, ROW = 19, BELOW = 10, NAMES = 0.4;
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

  // Begin and end of a text that is wider than its room: Plotly would cut it off at the edge of the figure.
  const shortened = (text, room) => {
    if (!(lengthOf(text) > room) || text.includes("<br>")) return text;
    const kept = Math.max(6, Math.floor(text.length * room / lengthOf(text)) - 2), begin = Math.ceil(kept * 0.6);
    return `${text.slice(0, begin)}…${text.slice(text.length - (kept - begin))}`;
  };
  const withNotes = ({ annotations, margin }, width) => {
    const room = width - margin.l - margin.r;
    const fitted = (note) => {
      const size = Math.max(SMALLEST, Math.floor(SIZE * room / lengthOf(note.text)));
      return lengthOf(note.text) > room ? { ...note, text: shortened(note.text, room * SIZE / size), font: { size } } : note;
    };
    return annotations ? { annotations: annotations.map(fitted) } : {};
  };
  // The names beside a chart take at most a part of its width.
  const withNames = (axis, traces, width) => {
    if (axis.type !== "category") return {};
    const values = axis.tickvals || [...new Set(traces.flatMap((trace) => trace.y || []))], names = axis.ticktext || values;
    if (!names.some((name) => lengthOf(String(name)) > width * NAMES)) return {};
    return { tickmode: "array", tickvals: values, ticktext: names.map((name) => shortened(String(name), width * NAMES)) };
  };

  const layout = (drawn, traces, place, more = {}) => {
    const lines = { gridcolor: css("--line"), zerolinecolor: css("--line-strong"), linecolor: css("--line-strong") };
    const font = { family: css("--font-ui"), size: SIZE, color: css("--ink") };
    const axes = Object.keys(drawn).filter((name) => /^[xy]axis/.test(name));
    const [width, { l = 0, r = 0, t = 0, b = 0 }] = [drawn.width || place.clientWidth, drawn.margin || {}];
    const titled = (title, room) => ({ ...title, ...(title && title.text ? { text: shortened(title.text, room) } : {}), font: { size: SIZE } });
    const dressed = (name) => {
      const axis = drawn[name], isVertical = name.startsWith("y");
      const title = titled(axis.title, isVertical ? drawn.height - t - b : width - l - r);
      return { ...axis, ...lines, ...(isVertical ? withNames(axis, traces, width) : {}), title, fixedrange: true };
    };
    return {
      ...drawn,
      ...withLegend(drawn, traces, place.clientWidth),
      ...withNotes(drawn, place.clientWidth),
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font,
      hoverlabel: { bgcolor: css("--surface"), bordercolor: css("--line-strong"), font: { family: font.family, color: font.color } },
      dragmode: false,
      ...Object.fromEntries(axes.map((name) => [name, dressed(name)])),
      ...more,
    };
  };

  const draw = (place, traces, dressed, options = {}) =>
    window.Plotly.react(place, traces, dressed, { responsive: true, displaylogo: false, displayModeBar: false, ...options });

  return { css, layout, draw, lengthOf };
})();
