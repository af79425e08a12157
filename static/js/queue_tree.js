// The tree-table of queues by keyboard and mouse: move, fold, open a line for editing, leave it.
(() => {
  "use strict";
  const tree = () => document.querySelector("[data-tree]");
  const line = (queue) => queue.querySelector("tr");
  const level = (queue) => Number(line(queue).getAttribute("aria-level"));
  const queues = () => [...tree().querySelectorAll("[data-queue]")];
  const shown = () => queues().filter((queue) => !queue.hidden);

  const below = (queue) => {
    const all = queues();
    const rest = all.slice(all.indexOf(queue) + 1);
    const end = rest.findIndex((other) => level(other) <= level(queue));
    return end < 0 ? rest : rest.slice(0, end);
  };
  const above = (queue) => queues().slice(0, queues().indexOf(queue)).reverse().find((other) => level(other) < level(queue));
  const isParent = (queue) => line(queue).hasAttribute("aria-expanded");
  const isOpen = (queue) => line(queue).getAttribute("aria-expanded") === "true";

  const showBelow = (queue) => {
    let closed = null;
    below(queue).forEach((other) => {
      if (closed !== null && level(other) > closed) { other.hidden = true; return; }
      closed = null;
      other.hidden = !isOpen(queue);
      if (isParent(other) && !isOpen(other)) closed = level(other);
    });
  };
  const fold = (queue, open) => {
    if (!isParent(queue)) return;
    line(queue).setAttribute("aria-expanded", String(open));
    showBelow(queue);
  };

  // One line at a time can be reached by Tab; arrows move from there.
  const reach = (queue, focus = true) => {
    if (!queue) return;
    queues().forEach((other) => { line(other).tabIndex = other === queue ? 0 : -1; });
    if (focus) line(queue).focus();
  };
  const edit = (queue, field) => {
    const link = queue.querySelector("[data-edit]");
    if (!link) return;
    wanted = field || "weight";
    link.click();
  };
  let wanted = "weight";

  // The field that has a problem, else the one that was asked for.
  const write = (queue) => {
    const field = queue.querySelector("[aria-invalid]") || queue.querySelector(`[name="${CSS.escape(wanted)}"]`);
    if (field) { field.focus(); field.select?.(); }
  };

  const KEYS = {
    ArrowDown: (queue) => reach(shown()[shown().indexOf(queue) + 1]),
    ArrowUp: (queue) => reach(shown()[shown().indexOf(queue) - 1]),
    Home: () => reach(shown()[0]),
    End: () => reach(shown().at(-1)),
    ArrowRight: (queue) => (isParent(queue) && !isOpen(queue) ? fold(queue, true) : isParent(queue) && reach(below(queue)[0])),
    ArrowLeft: (queue) => (isParent(queue) && isOpen(queue) ? fold(queue, false) : reach(above(queue))),
    Enter: (queue) => edit(queue),
    F2: (queue) => edit(queue),
  };

  document.addEventListener("keydown", (event) => {
    const queue = event.target.closest("[data-queue]");
    if (!queue) return;
    if (event.key === "Escape" && queue.querySelector("[data-cancel]")) {
      queue.querySelector("[data-cancel]").click();
    } else if (event.target === line(queue) && KEYS[event.key]) {
      event.preventDefault();
      KEYS[event.key](queue);
    }
  });
  document.addEventListener("click", (event) => {
    const queue = event.target.closest("[data-queue]");
    if (!queue || !event.target.closest("[data-fold]")) return;
    fold(queue, !isOpen(queue));
    reach(queue, false);
  });
  document.addEventListener("dblclick", (event) => {
    const cell = event.target.closest("[data-field]");
    if (cell) edit(cell.closest("[data-queue]"), cell.dataset.field);
  });

  // A line came back from the server: opened, or closed again.
  document.addEventListener("htmx:load", (event) => {
    const queue = event.detail.elt;
    if (!queue.matches?.("[data-queue]")) return;
    if (isParent(queue)) line(queue).setAttribute("aria-expanded", String(!below(queue)[0]?.hidden));
    reach(queue, !queue.querySelector("[data-open]"));
    write(queue);
  });

  document.addEventListener("DOMContentLoaded", () => {
    if (!tree()) return;
    const open = tree().querySelector("[data-open]");
    const queue = open ? open.closest("[data-queue]") : shown()[0];
    reach(queue, false);
    if (open) write(queue);
  });
})();
