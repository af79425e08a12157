// What every page does beside its forms and links: say when the server does not answer, and keep revisions in step.
(() => {
  "use strict";
  const notice = () => document.getElementById("connection");
  document.addEventListener("htmx:sendError", () => { notice().hidden = false; });
  document.addEventListener("htmx:responseError", () => { notice().hidden = false; });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) notice().hidden = true; });

  // A form that takes a while says so, and is sent once.
  document.addEventListener("submit", (event) => {
    const button = event.target.dataset.busy && event.target.querySelector("[type=submit]");
    if (!button) return;
    button.textContent = event.target.dataset.busy;
    button.disabled = true;
  });

  // This page's own edit raised the revision: other open editors of this page have seen it, too.
  document.addEventListener("revision", (event) => {
    const { seen, now } = event.detail;
    document.querySelectorAll("[data-revision]").forEach((field) => {
      if (Number(field.value) === seen) field.value = now;
    });
  });
})();
