// Keys walk where links say so: a link with data-key is followed when that key is pressed outside of fields.
(() => {
  "use strict";
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("input, select, textarea, .sheet")) return;
    const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!link) return;
    event.preventDefault();
    link.click();
  });
})();
