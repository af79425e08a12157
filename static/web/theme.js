// Which theme is on? The reader's own choice, else what the system prefers; on paper the light one. Loaded before the first paint.
(() => {
  "use strict";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("theme");
  const show = (printed = "") => {
    document.documentElement.dataset.bsTheme = printed || chosen() || (system.matches ? "dark" : "light");
    document.dispatchEvent(new CustomEvent("theme"));
  };
  show();
  system.addEventListener("change", () => show());
  window.addEventListener("beforeprint", () => show("light"));
  window.addEventListener("afterprint", () => show());
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-switch]")) return;
    localStorage.setItem("theme", document.documentElement.dataset.bsTheme === "dark" ? "light" : "dark");
    show();
  });
})();
