// What every page does beside its forms and links: say when the server does not answer, and keep revisions in step.
(() => {
  "use strict";
  const notice = () => document.getElementById("connection");
  document.addEventListener("htmx:sendError", () => { notice().hidden = false; });
  document.addEventListener("htmx:responseError", () => { notice().hidden = false; });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) notice().hidden = true; });

  // Of links in a row that is wider than the screen, the current one is in sight.
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".bar__links, .tabs").forEach((row) => {
    const current = row.querySelector("[aria-current]");
    if (!current) return;
    const [outer, inner] = [row, current].map((element) => element.getBoundingClientRect());
    row.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }));

  // A form that takes a while says so, and is sent once.
  document.addEventListener("submit", (event) => {
    const button = event.target.dataset.busy && (event.submitter || event.target.querySelector("[type=submit]"));
    if (!button) return;
    button.textContent = event.target.dataset.busy;
    setTimeout(() => { button.disabled = true; }); // only now: what a disabled button says is not sent
  });

  // What is to be pasted elsewhere is copied by a button.
  const offerCopy = (root) => root.querySelectorAll("pre[data-copy]").forEach((text) => {
    if (!navigator.clipboard || text.previousElementSibling?.matches(".copy")) return;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "btn btn-plain btn-sm copy", textContent: "Copy" });
    button.setAttribute("aria-label", `Copy ${text.dataset.copy}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    text.before(button);
  });
  document.addEventListener("DOMContentLoaded", () => offerCopy(document));
  document.addEventListener("htmx:load", (event) => { if (event.detail.elt !== document.body) offerCopy(event.detail.elt); });

  // This page's own edit raised the revision: other open editors of this page have seen it, too.
  document.addEventListener("revision", (event) => {
    const { seen, now } = event.detail;
    document.querySelectorAll("[data-revision]").forEach((field) => {
      if (Number(field.value) === seen) field.value = now;
    });
  });
})();
