// A slider beside each amount and weight: it writes into its field, and follows what is typed there.
(() => {
  "use strict";
  const fieldOf = (slider) => slider.closest("tbody").querySelector(`[name="${CSS.escape(slider.dataset.slides)}"]`);
  const sliderOf = (field) => field.closest("tbody")?.querySelector(`[data-slides="${CSS.escape(field.name)}"]`);
  const says = (slider, text) => slider.setAttribute("aria-valuetext", text || "not set");
  const write = (slider) => {
    const field = fieldOf(slider);
    field.value = slider.value === "0" ? "0" : `${slider.value}${slider.dataset.suffix}`;
    says(slider, field.value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const follow = (slider, text) => {
    const { suffix } = slider.dataset;
    const number = suffix && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
    if (/^\d+(\.\d+)?$/.test(number) && (!suffix || number !== text || text === "0")) slider.value = number;
    says(slider, text);
  };
  document.addEventListener("input", (event) => {
    if (event.target.matches(".tree__slider")) write(event.target);
    else if (event.target.matches(".tree__input") && sliderOf(event.target)) follow(sliderOf(event.target), event.target.value.trim());
  });
  const show = (root) => root.querySelectorAll(".tree__slider").forEach((slider) => { slider.hidden = false; });
  document.addEventListener("htmx:load", (event) => show(event.detail.elt));
  document.addEventListener("DOMContentLoaded", () => show(document));
})();
