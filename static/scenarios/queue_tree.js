// The tree-table of queues by keyboard and mouse: walk, fold, filter, edit a line, add, move, duplicate, remove, undo.
(() => {
  "use strict";
  const panel = () => document.querySelector("[data-queues]");
  const tree = () => document.querySelector("[data-tree]");
  const line = (queue) => queue.querySelector("tr");
  const nameOf = (queue) => queue.dataset.queue;
  const level = (queue) => Number(line(queue).getAttribute("aria-level"));
  const queues = () => (tree() ? [...tree().querySelectorAll("tbody[data-queue]")] : []);
  const shown = () => queues().filter((queue) => !queue.hidden);
  const called = (name) => document.getElementById(`queue-${name}`);
  const isParent = (queue) => line(queue).hasAttribute("aria-expanded");
  const isOpen = (queue) => line(queue).getAttribute("aria-expanded") === "true";
  const above = (queue) => queues().slice(0, queues().indexOf(queue)).reverse().find((other) => level(other) < level(queue));
  const below = (queue) => {
    const rest = queues().slice(queues().indexOf(queue) + 1);
    const end = rest.findIndex((other) => level(other) <= level(queue));
    return end < 0 ? rest : rest.slice(0, end);
  };

  // What survives when the server sends a new tree: which queues are folded, which line was reached, what the filter says.
  const memory = `folded ${location.pathname}`;
  const folded = new Set(JSON.parse(sessionStorage.getItem(memory) || "[]"));
  let reached = null;
  let filter = "";
  let wanted = "";

  // A queue is shown when it matches the filter or has a match below it; without a filter, when nothing above it is folded.
  const show = () => {
    const all = queues();
    let up = 0;
    [...all].reverse().forEach((queue) => {
      const named = nameOf(queue).toLowerCase().includes(filter);
      const matches = named || "open" in queue.dataset || level(queue) < up;
      if (matches) up = level(queue);
      queue.hidden = !matches;
    });
    let closed = Infinity;
    all.forEach((queue) => {
      if (level(queue) <= closed) closed = Infinity;
      if (closed < Infinity) queue.hidden = true;
      if (!isParent(queue)) return;
      const isFolded = !filter && folded.has(nameOf(queue));
      line(queue).setAttribute("aria-expanded", String(!isFolded));
      if (isFolded && closed === Infinity) closed = level(queue);
    });
    document.querySelector("[data-no-match]").hidden = shown().length > 0;
  };
  const fold = (queue, open) => {
    if (!isParent(queue)) return;
    if (open) folded.delete(nameOf(queue)); else folded.add(nameOf(queue));
    sessionStorage.setItem(memory, JSON.stringify([...folded]));
    show();
  };

  // One line at a time can be reached by Tab; arrows move from there.
  const reach = (queue, focus = true) => {
    if (!queue) return;
    tree().querySelectorAll("tr[tabindex='0']").forEach((other) => { other.tabIndex = -1; });
    line(queue).tabIndex = 0;
    reached = nameOf(queue);
    if (focus) line(queue).focus();
  };

  // The field that has a problem, else the one that was asked for, else the first; the buttons below come into view, too.
  const write = (queue) => {
    const field = queue.querySelector("[aria-invalid]")
      || queue.querySelector(`[name="${CSS.escape(wanted || queue.dataset.wanted || "weight")}"]`);
    if (field) { field.focus(); field.select?.(); }
    queue.scrollIntoView({ block: "nearest" });
    wanted = "";
  };

  // What can be done with a queue; a viewer has no panel of buttons, so that nothing of it is asked for.
  const mayEdit = () => document.getElementById("queue-menu") !== null;
  const resource = () => encodeURIComponent(tree()?.dataset.resource ?? "");
  const address = (name, what = "") => `${panel().dataset.queues}${name === null ? "" : `${encodeURIComponent(name)}/`}${what}`;
  const ask = (queue, url, swap) => htmx.ajax("GET", url, { source: queue, target: queue, swap });
  const send = (queue, what, values = {}) => htmx.ajax("POST", address(nameOf(queue), what), {
    source: queue,
    target: "#tree-messages",
    values: { revision: document.getElementById("tree-revision").value, resource: decodeURIComponent(resource()), ...values },
  });
  const add = (queue, parent) => ask(queue, `${address(null)}?new&parent=${encodeURIComponent(parent)}&resource=${resource()}`, "afterend");
  const DO = {
    edit: (queue, field = "") => { wanted = field; queue.querySelector("[data-edit]")?.click(); },
    open: (queue, link) => ask(queue, link.href.split("#")[0], "outerHTML"),
    find: (queue, link) => { document.getElementById("reach")?.remove(); ask(queue, link.href, "afterend"); },
    rename: (queue) => DO.edit(queue, "name"),
    move: (queue) => DO.edit(queue, "parent"),
    child: (queue) => { fold(queue, true); add(queue, nameOf(queue)); },
    sibling: (queue) => add(queue, queue.dataset.parent),
    duplicate: (queue) => send(queue, "duplicate/"),
    remove: (queue) => { document.getElementById("removal")?.remove(); ask(queue, `${address(nameOf(queue), "remove/")}?resource=${resource()}`, "afterend"); },
  };
  // One question at a time stands below its line.
  document.addEventListener("htmx:afterSettle", () => { const field = document.getElementById("reach-at-least"); if (field?.closest("#reach") && !field.value) field.focus(); });
  document.addEventListener("click", (event) => { if (event.target.matches?.("[data-close-reach]")) document.getElementById("reach")?.remove(); });
  const top = (button) => htmx.ajax("GET", `${address(null)}?new&parent=root&resource=${resource()}`, { source: button, target: "#tree", swap: "outerHTML" });

  const openMenu = (queue) => {
    const menu = document.getElementById("queue-menu");
    const place = (queue.querySelector("[data-menu]") || line(queue)).getBoundingClientRect();
    menu.dataset.of = nameOf(queue);
    menu.showPopover();
    menu.style.left = `${Math.max(8, Math.min(place.right, window.innerWidth - 8) - menu.offsetWidth)}px`;
    menu.style.top = `${Math.max(8, Math.min(place.bottom, window.innerHeight - menu.offsetHeight - 8))}px`;
    menu.querySelector("button").focus();
  };

  const WALK = {
    ArrowDown: (queue) => reach(shown()[shown().indexOf(queue) + 1]),
    ArrowUp: (queue) => reach(shown()[shown().indexOf(queue) - 1]),
    Home: () => reach(shown()[0]),
    End: () => reach(shown().at(-1)),
    ArrowRight: (queue) => (isParent(queue) && !isOpen(queue) ? fold(queue, true) : isParent(queue) && reach(below(queue)[0])),
    ArrowLeft: (queue) => (isParent(queue) && isOpen(queue) ? fold(queue, false) : reach(above(queue))),
  };
  const WORK = {
    Enter: DO.edit, F2: DO.rename, Insert: DO.child, "Shift Insert": DO.sibling, Delete: DO.remove,
    m: DO.move, "Ctrl d": DO.duplicate, ".": openMenu, ContextMenu: openMenu, "Shift F10": openMenu,
  };
  const keyOf = (event) => `${event.ctrlKey || event.metaKey ? "Ctrl " : ""}${event.shiftKey && event.key.length > 1 ? "Shift " : ""}${event.key}`;

  document.addEventListener("keydown", (event) => {
    const menu = event.target.closest("#queue-menu");
    if (menu) { inMenu(event, menu); return; }
    if (event.key === "Escape" && event.target.closest("[data-open], [data-removal]")) {
      event.target.closest("[data-open], [data-removal]").querySelector("[data-cancel], [data-keep]").click();
      return;
    }
    if (event.key === "Enter" && event.target.matches("[data-open] select")) {
      event.preventDefault();
      event.target.form.requestSubmit();
      return;
    }
    const undo = (event.ctrlKey || event.metaKey) && { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
    if (undo && panel() && !event.target.closest("input, textarea, select")) {
      event.preventDefault();
      document.querySelector(`[data-undo=${undo}]`)?.click();
      return;
    }
    const queue = event.target.closest("tbody[data-queue]");
    if (!queue || event.target !== line(queue)) return;
    const act = WALK[keyOf(event)] || (mayEdit() && WORK[keyOf(event)]);
    if (!act) return;
    event.preventDefault();
    act(queue);
  });

  const inMenu = (event, menu) => {
    const items = [...menu.querySelectorAll("button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); items.at((items.indexOf(event.target) + step) % items.length).focus(); }
    if (event.key === "Escape" || event.key === "Tab") { event.preventDefault(); menu.hidePopover(); reach(called(menu.dataset.of)); }
  };

  document.addEventListener("click", (event) => {
    const at = (selector) => event.target.closest(selector);
    const queue = at("tbody[data-queue]");
    const link = at("[data-edit], .tree__reach");
    if (link) {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      DO[link.matches("[data-edit]") ? "open" : "find"](queue, link);
    } else if (at("[data-fold]")) { fold(queue, !isOpen(queue)); reach(queue, false); }
    else if (at("[data-menu]")) { reach(queue, false); openMenu(queue); }
    else if (at("[data-do=top]")) top(at("[data-do=top]"));
    else if (at("#queue-menu [data-do]")) {
      const menu = at("#queue-menu");
      menu.hidePopover();
      DO[at("[data-do]").dataset.do](called(menu.dataset.of));
    } else if (at("[data-keep]")) {
      event.preventDefault();
      const asked = called(at("[data-removal]").dataset.removal);
      at("[data-removal]").remove();
      reach(asked);
    } else if (at("[data-cancel]") && !nameOf(queue)) {
      event.preventDefault();
      const from = called(queue.dataset.parent) || shown()[0];
      queue.remove();
      if (from !== queue) reach(from);
    } else if (queue && at(".tree__line") && !at("a, button, input, select")) reach(queue);
  });
  document.addEventListener("dblclick", (event) => {
    const cell = event.target.closest("td[data-field]");
    if (cell) DO.edit(cell.closest("tbody[data-queue]"), cell.dataset.field);
  });
  document.addEventListener("input", (event) => {
    if (event.target.id === "queue-filter") filter = event.target.value.trim().toLowerCase();
    else return;
    show();
    if (!shown().some((queue) => nameOf(queue) === reached)) reach(shown()[0], false);
  });

  // Moved by drag: below the queue on which it is dropped.
  let dragged = null;
  const dropOn = (event) => {
    const queue = dragged && event.target.closest?.("tbody[data-queue]:not([data-open])");
    return queue && queue !== dragged && !below(dragged).includes(queue) ? queue : null;
  };
  const mark = (queue) => {
    document.querySelectorAll(".tree__queue--target").forEach((other) => other.classList.remove("tree__queue--target"));
    queue?.classList.add("tree__queue--target");
  };
  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("tbody[data-queue]") ?? null;
    event.dataTransfer.effectAllowed = "move";
  });
  document.addEventListener("dragover", (event) => {
    mark(dropOn(event));
    if (dropOn(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const parent = dropOn(event);
    if (!parent) return;
    event.preventDefault();
    send(dragged, "move/", { parent: nameOf(parent) });
  });
  document.addEventListener("dragend", () => { mark(null); dragged = null; });

  // A whole tree is about to come: other open lines keep what is typed in them, and new figures will be marked.
  let kept = [];
  let before = new Map();
  const answers = () => new Map(queues().flatMap((queue) => [...queue.querySelectorAll("[data-answer]")].map((cell) => [`${nameOf(queue)} ${cell.dataset.answer}`, cell])));
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!tree() || !["tree", "queues"].includes(event.detail.target?.id) || !event.detail.shouldSwap) return;
    before = event.detail.target.id === "tree" ? new Map([...answers()].map(([key, cell]) => [key, cell.textContent])) : new Map();
    const saved = event.detail.requestConfig.elt.closest("[data-open]");
    kept = queues().filter((queue) => "open" in queue.dataset && queue !== saved);
    kept.forEach((queue) => queue.remove());
  });
  // How many checks speak of each queue stands beside its name, and leads to them.
  const markChecks = () => {
    const rows = [...document.querySelectorAll("#review [data-queue]")];
    queues().filter((queue) => !("open" in queue.dataset)).forEach((queue) => {
      queue.querySelector(".tree__checks")?.remove();
      const checks = rows.filter((row) => row.dataset.queue === nameOf(queue));
      if (!checks.length) return;
      const mark = Object.assign(document.createElement("a"), {
        className: `${checks[0].querySelector(".tag").className} tree__checks`,
        href: "#review",
        tabIndex: -1,
        title: checks.map((row) => row.querySelector(".grid__why").textContent).join("\n"),
        textContent: checks.length === 1 ? "1 check" : `${checks.length} checks`,
      });
      queue.querySelector(".tree__indent").append(" ", mark);
    });
  };
  const treeCame = (root) => {
    kept.forEach((queue) => (nameOf(queue) ? called(nameOf(queue))?.replaceWith(queue) : (called(queue.dataset.parent) || tree().querySelector("thead")).after(queue)));
    kept = [];
    answers().forEach((cell, key) => { if (before.has(key) && before.get(key) !== cell.textContent) cell.classList.add("tree__answer--new"); });
    before = new Map();
    markChecks();
    start(root.querySelector("[data-names-queue]")?.dataset.namesQueue || root.dataset.namesQueue);
  };

  // Lines come folded and filtered as they were left, with one of them reached.
  const start = (name) => {
    panel().querySelectorAll("[data-needs-script]").forEach((tool) => { tool.hidden = false; });
    document.getElementById("queue-filter").value = filter;
    if (!tree()) return;
    show();
    const open = queues().find((queue) => "open" in queue.dataset && !kept.includes(queue));
    const queue = called(name) || called(reached) || shown()[0];
    if (open && !name) { reach(open, false); write(open); } else reach(queue, Boolean(name));
  };

  document.addEventListener("htmx:load", (event) => {
    const came = event.detail.elt;
    if (came.id === "tree" || came.id === "queues") { treeCame(came); return; }
    if (came.id === "review") { markChecks(); return; }
    if (came.id === "reach") { came.scrollIntoView({ block: "nearest" }); return; }
    if (came.matches?.("[data-removal]")) { came.querySelector("button").focus(); return; }
    if (!came.matches?.("tbody[data-queue]")) return;
    show();
    markChecks();
    reach(came, !("open" in came.dataset));
    if ("open" in came.dataset) write(came);
  });
  document.addEventListener("DOMContentLoaded", () => { if (panel()) start(""); });
})();
