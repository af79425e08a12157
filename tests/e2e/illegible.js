// Which texts lie over one another, are cut, or make the page wider than its window? Read by legibility.py.
(slack) => {
  const said = (node) => node.textContent.trim().replace(/\s+/g, " ").slice(0, 50);
  const isOut = (element) => element.closest(
    ".visually-hidden, [popover]:not(:popover-open), script, style, option, datalist, textarea, .js-plotly-plot, .cm-editor");
  const faults = [];
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > slack) faults.push(`the page is ${wide} px wider than its window`);
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.textContent.trim() || isOut(element) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    let clips = [];
    let isRaised = false;
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (["sticky", "fixed"].includes(style.position)) isRaised = true;
      if (["inline", "contents"].includes(style.display)) continue;
      if (style.overflowX !== "visible" || style.overflowY !== "visible") clips.push([up, style]);
    }
    for (const whole of range.getClientRects()) {
      if (whole.width < 1 || whole.height < 1) continue;
      let isHidden = false;
      let box = { left: whole.left, right: whole.right, top: whole.top, bottom: whole.bottom };
      for (const [up, style] of clips) {
        const place = up.getBoundingClientRect();
        if (place.width <= 16) { isHidden = true; break; }
        const isCut = (style.overflowX === "hidden" || style.overflowX === "clip") && style.textOverflow !== "ellipsis"
          && (box.right > place.right + slack || box.left < place.left - slack);
        if (isCut && !isRaised) faults.push(`cut: ${said(node)}`);
        box = { left: Math.max(box.left, place.left), right: Math.min(box.right, place.right), top: Math.max(box.top, place.top), bottom: Math.min(box.bottom, place.bottom) };
      }
      if (isHidden || box.right - box.left < 1 || box.bottom - box.top < 1) continue;
      const cell = element.closest("td, th, button, .btn, .tag, dd");
      if (cell && !isRaised && element.closest("svg") === null) {
        const place = cell.getBoundingClientRect();
        const isClipped = clips.some(([up]) => cell.contains(up));
        if (!isClipped && (whole.right > place.right + slack || whole.left < place.left - slack)) faults.push(`outside its cell: ${said(node)}`);
      }
      if (!isRaised) texts.push({ ...box, node });
    }
  }
  texts.sort((one, other) => one.top - other.top);
  texts.forEach((one, number) => {
    for (let next = number + 1; next < texts.length && texts[next].top < one.bottom - slack; next += 1) {
      const other = texts[next];
      if (other.node === one.node) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      const lower = Math.min(one.bottom - one.top, other.bottom - other.top);
      if (across > slack && down > slack + lower * 0.25) faults.push(`overlap: ${said(one.node)} / ${said(other.node)}`);
    }
  });
  return [...new Set(faults)].slice(0, 12);
}
