// What every page does beside its forms and links: say when the server does not answer, and keep revisions in step.
(() => {
  "use strict";
  const notice = () => document.getElementById("connection");
  document.addEventListener("htmx:sendError", () => { notice().hidden = false; });
  document.addEventListener("htmx:responseError", () => { notice().hidden = false; });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) notice().hidden = true; });

  // This page's own edit raised the revision: other open editors of this page have seen it, too.
  document.addEventListener("revision", (event) => {
    const { seen, now } = event.detail;
    document.querySelectorAll("[data-revision]").forEach((field) => {
      if (Number(field.value) === seen) field.value = now;
    });
  });
})();
