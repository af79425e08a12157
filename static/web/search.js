// The search of every page: Ctrl-K opens it, arrows choose, Enter follows, Escape closes.
(() => {
  "use strict";
  const dialog = document.getElementById("find");
  if (!dialog) return;
  const field = dialog.querySelector("input[type=search]");
  const hits = () => [...dialog.querySelectorAll("a[role=option]")];

  const choose = (hit) => {
    hits().forEach((one) => one.setAttribute("aria-selected", String(one === hit)));
    field.setAttribute("aria-activedescendant", hit ? hit.id : "");
    if (hit) hit.scrollIntoView({ block: "nearest" });
  };
  const chosen = () => hits().find((hit) => hit.getAttribute("aria-selected") === "true");
  const move = (by) => {
    const all = hits();
    if (all.length) choose(all[(all.indexOf(chosen()) + by + all.length) % all.length]);
  };
  const open = () => {
    if (!dialog.open) dialog.showModal();
    field.select();
  };

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  document.querySelectorAll("[data-search]").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    open();
  }));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("htmx:afterSettle", () => choose(hits()[0]));
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (chosen()) chosen().click();
    }
  });
})();
