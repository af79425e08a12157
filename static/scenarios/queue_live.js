// Before → after while typing: open lines and the form of several queues are sent to be calculated, never to be saved.
(() => {
  "use strict";
  const WAIT = 100;
  const panel = () => document.querySelector("[data-preview]");
  const batch = () => document.getElementById("batch");
  const lines = () => [...document.querySelectorAll("tbody[data-queue][data-open]")];
  const fieldsOf = (line) => [...line.querySelectorAll("input[name], select[name]")].filter((field) => !["hidden", "checkbox"].includes(field.type));
  const typed = (line) => Object.fromEntries(fieldsOf(line).map((field) => [field.name, field.value]));
  const isTouched = (line) => fieldsOf(line).some((field) => (field.tagName === "SELECT" ? [...field.options].some((one) => one.selected !== one.defaultSelected && (one.selected || one.defaultSelected)) : field.value !== field.defaultValue));
  const selected = () => [...document.querySelectorAll(".tree__select:checked")].map((box) => box.value);
  const isBatch = () => batch() && (batch().elements.paste.value.trim() || (batch().elements.value.value.trim() && selected().length));

  // The text of a cell before anything was typed; it is restored when all input is removed.
  const kept = new Map();
  const restore = (cell) => { if (kept.has(cell)) { cell.replaceChildren(...kept.get(cell)); kept.delete(cell); } cell.classList.remove("tree__live"); };
  const dataOf = (node) => (node.tagName === "DATA" ? node : node.querySelector?.("data"));
  const saved = (cell) => (kept.get(cell) || [...cell.childNodes]).map(dataOf).find(Boolean)?.textContent ?? "";
  const show = (cell, text) => {
    if (saved(cell) === text) { restore(cell); return; }
    if (!kept.has(cell)) kept.set(cell, [...cell.childNodes]);
    const before = Object.assign(document.createElement("small"), { className: "tree__was", textContent: `${saved(cell)} → ` });
    cell.replaceChildren(before, Object.assign(document.createElement("data"), { textContent: text }));
    cell.classList.add("tree__live");
  };
  const clear = () => { [...kept.keys()].forEach(restore); tell({ problems: [], computed: {}, edited: 0 }, 0); };

  const draw = ({ cells }) => {
    const changed = new Set();
    document.querySelectorAll("tbody[data-queue]").forEach(({ dataset: { queue }, rows: [line] }) => {
      (cells.queues[queue] ?? []).forEach((text, column) => {
        const cell = line.cells[column + 1];
        if (!cell.querySelector("data")) return;
        show(cell, text);
        if (kept.has(cell)) changed.add(queue);
      });
    });
    return changed.size;
  };

  const tell = ({ problems, computed, edited }, changed) => {
    lines().forEach((line) => {
      const name = line.dataset.queue;
      line.querySelectorAll("[data-computed]").forEach((place) => {
        const field = place.dataset.computed;
        const wrong = problems.find((problem) => problem.queue === (name || typed(line).name) && problem.field === field);
        const value = computed[name]?.[field];
        place.textContent = wrong ? wrong.message : value === undefined ? "" : `= ${value || "not set"}`;
        place.classList.toggle("tree__computed--bad", Boolean(wrong));
      });
    });
    if (!batch()) return;
    const status = batch().querySelector("[data-live-status]");
    status.textContent = isBatch() ? `${edited} ${edited === 1 ? "queue" : "queues"} edited, figures of ${changed} ${changed === 1 ? "queue" : "queues"} change. Not saved yet.` : "";
    const list = batch().querySelector("[data-live-problems]");
    list.replaceChildren(...(isBatch() ? problems : []).map((problem) => Object.assign(document.createElement("li"), { textContent: problem.in_full })));
    list.hidden = !list.childElementCount;
  };

  let timer = null;
  let running = null;
  const ask = async () => {
    running?.abort();
    const touched = lines().filter(isTouched);
    if (!panel() || !(touched.length || isBatch())) { clear(); return; }
    running = new AbortController();
    const body = isBatch() ? new FormData(batch()) : new FormData();
    if (!isBatch()) body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    const table = document.querySelector("[data-tree]");
    body.set("resource", table.dataset.resource);
    body.set("largest", table.dataset.largest);
    body.set("lines", JSON.stringify(Object.fromEntries(touched.map((line) => [line.dataset.queue, typed(line)]))));
    try {
      const answer = await fetch(panel().dataset.preview, { method: "POST", body, signal: running.signal, headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      const figures = await answer.json();
      tell(figures, draw(figures));
      panel().dataset.live = Number(panel().dataset.live || 0) + 1;
    } catch (error) {
      if (error.name !== "AbortError") document.getElementById("connection").hidden = false;
    }
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(ask, WAIT); };

  const count = () => {
    const place = document.querySelector("[data-selected]");
    if (place) place.textContent = selected().length ? ` · ${selected().length} selected` : "";
  };
  const open = () => { batch().closest("details").open = true; };

  const isOurs = (target) => target.closest?.("tbody[data-open], #batch") || target.matches?.(".tree__select");
  document.addEventListener("input", (event) => { if (isOurs(event.target)) { count(); soon(); } });
  document.addEventListener("click", (event) => {
    const way = event.target.closest("[data-select]")?.dataset.select;
    if (!way) return;
    document.querySelectorAll(".tree__select").forEach((box) => { box.checked = way === "shown" && !box.closest("tbody").hidden; });
    count();
    soon();
  });
  document.addEventListener("keydown", (event) => {
    const box = event.key === " " && event.target.matches(".tree__line") && event.target.querySelector(".tree__select");
    if (!box) return;
    event.preventDefault();
    box.click();
  });

  // A block of a spreadsheet, pasted anywhere in the table, goes to the form that checks all of it.
  document.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!batch() || event.target.matches?.("textarea") || !event.target.closest?.("#queues") || !/[\t\n]./.test(text)) return;
    event.preventDefault();
    open();
    batch().elements.paste.value = text;
    batch().elements.paste.focus();
    soon();
  });

  document.addEventListener("htmx:load", (event) => {
    if (!panel()) return;
    const came = event.detail.elt;
    if (came.id === "tree") {
      kept.clear();
      if (batch() && !came.querySelector("[data-open]")) { batch().elements.paste.value = ""; batch().elements.value.value = ""; }
    }
    if (came.id === "tree" || came.matches?.("tbody[data-queue]")) { count(); soon(); }
  });
})();
